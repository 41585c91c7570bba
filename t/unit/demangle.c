/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* demangle.c - function names from symbols: C++, both Rust manglings, suffixes that compilers add, and nonsense. */
#include "symbols/demangle.h"

#include <stdlib.h>

#include "tap.h"

static const char *name_of(const char *symbol)
{
	static char to[CTP_DEMANGLED_MAX];
	if (!symbol)
		abort();
	memset(to, 'x', sizeof to);
	ctp_demangle(symbol, to);
	return memchr(to, '\0', sizeof to) ? to : "(without an end)";
}

static void test_all(const char *const (*pairs)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		is(name_of(pairs[i][0]), pairs[i][1], pairs[i][0]);
}

static const char *const plain[][2] = {
	{"main", "main"}, {"handle.constprop.0", "handle"}, {"handle.part.0.cold", "handle"}, {"handle (.resume)", "handle"},
	{"main.(*Server).handle", "main.(*Server).handle"}, {"", ""}, {".cold", ".cold"}, {"_Z", "_Z"}, {"_R", "_R"},
};

static const char *const cxx[][2] = {
	{"_Z6handlev", "handle"},
	{"_ZN3net7channelIiE4sendEOi", "net::channel::send"},
	{"_ZNK3net7channelIiE4sizeEv", "net::channel::size"},
	{"_Z6handlev.actor", "handle"},
	{"_Z6handlePZ6handleiE15_Z6handlei.Frame.actor", "handle"},
	{"_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden"},
	{"_ZZ4mainENKUliE0_clEi", "main::{lambda#2}::operator()"},
	{"_ZZN3net4pollEPFivEEN5Local3runEv", "net::poll::Local::run"},
	{"_ZN3net6serverC2Ev", "net::server::server"},
	{"_ZN3net6serverD0Ev", "net::server::~server"},
	{"_ZSt4sortIPiEvT_S1_", "std::sort"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
	{"_ZNSaIcEC1Ev", "std::allocator::allocator"},
	{"_ZlsRSoRK1A", "operator<<"},
	{"_ZN1AcviEv", "A::operator cast"},
	{"_Zli2_xy", "operator\"\"_x"},
	{"_ZThn16_N1B1fEv", "B::f"},
	{"_ZTch0_v0_n24_N1B1fEv", "B::f"},
	{"_ZN1AILi3ELb1EXsr3Foo5valueEE3runEv", "A::run"},
	{"_Z1fIiEDTcl1gfp_EET_", "f"},
	{"_ZN1AIJidEE1gIXaaltsZT_Li3EneT0_LS1_2EEEEvv", "A::g"},
	{"_ZN1AB5cxx113getB5cxx11Ev", "A::get"},
	{"_ZN3netL6staticEv", "net::static"},
};

static const char *const rust[][2] = {
	{"_ZN6server6handle17h0123456789abcdefE", "server::handle"},
	{"_ZN6server6handle28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.123", "server::handle::{{closure}}"},
	{"_ZN66_$LT$r..Conn$LT$u8$GT$$u20$as$u20$core..future..future..Future$GT$4poll17h0da9479d0ac3a0b1E",
	 "<r::Conn<u8> as core::future::future::Future>::poll"},
	{"_RNvCs6GmmlP4bgsG_1r6handle", "r::handle"},
	{"_RNCNvCs6GmmlP4bgsG_1r6handle0B3_", "r::handle::{closure#0}"},
	{"_RNCNvCs6GmmlP4bgsG_1r6handles0_0B3_", "r::handle::{closure#2}"},
	{"_RNvMs_Cs6GmmlP4bgsG_1rINtB4_4ConnAhj4_E3own", "<r::Conn>::own"},
	{"_RNvXs0_Cs6GmmlP4bgsG_1rINtB5_4ConnhENtNtNtCs6Hz1PecaLG4_4core6future6future6Future4poll",
	 "<r::Conn as core::future::future::Future>::poll"},
	{"_RNvXC1aAhj20_NtB2_1T1f", "<[u8; 0x20] as a::T>::f"},
	{"_RNvYTmReQbEC1t1f", "<(u32, &str, &mut bool) as t>::f"},
	{"_RNvYDNtC1a1Tp1XmEL_C1t1f", "<dyn a::T as t>::f"},
	{"_RNvYFUKChEjC1t1f", "<fn(u8) -> usize as t>::f"},
	{"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of"},
	{"_RNvC1au5abc_1", "a::punycode{abc_1}"},
};

/* These are returned unchanged, without a crash. */
static const char *const broken[] = {
	"_ZN", "_ZN3", "_ZN3ab", "_Z99999999999999999999f", "_ZNS_1fEv", "_ZNT_1fEv", "_ZZZZZZ", "_ZTV1A", "_RNv",
	"_RB_", "_RNvB0_1f", "_RNvC1a99f", "_RYB_B_", "_RNvXC1aAhjzz_NtB2_1T1f",
};

/* A short name that would be very long, or take very long, if it were spelled out. */
static void test_growth(void)
{
	char symbol[4000] = "_ZN1B1fI", *p = symbol + 8;
	for (int i = 0; i < 30; i++)
		p += sprintf(p, "1AIS%c_S%c_E", '0' + i % 10, '0' + i % 10);
	strcpy(p, "EEvv");
	is(name_of(symbol), "B::f", "C++: omitted parts are not expanded");
	const char *doubling = "_RNvYTThhEB3_TB2_B2_ETBb_Bb_ETBk_Bk_ETBt_Bt_ETBC_BC_ETBL_BL_ETBU_BU_EEC1t1f";
	is(name_of(doubling), doubling, "Rust: a name with exponential expansion is returned as it is");
	char deep[100000];
	memset(deep, 'P', sizeof deep);
	memcpy(deep, "_ZN1AI", 6);
	deep[sizeof deep - 1] = '\0';
	ok(strlen(name_of(deep)) == CTP_DEMANGLED_MAX - 1, "C++: an endless name is cut");
	memset(deep, 'N', sizeof deep - 1);
	ok(strlen(name_of(deep)) == CTP_DEMANGLED_MAX - 1, "a long name of no known kind is cut");
	for (size_t i = 0; i + 1 < sizeof deep; i++)
		deep[i] = "IX"[i % 2];
	memcpy(deep, "_ZN1A", 5);
	ok(strlen(name_of(deep)) == CTP_DEMANGLED_MAX - 1, "C++: a name of deeply nested parts is cut");
	memset(deep, 'R', sizeof deep - 1);
	memcpy(deep, "_RNvY", 5);
	ok(strlen(name_of(deep)) == CTP_DEMANGLED_MAX - 1, "Rust: too");
}

/* Every beginning of every name: the result does not matter, but it must end. */
static void test_cut(const char *const (*pairs)[2], size_t n)
{
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(pairs[i][0]);
		for (size_t cut = 0; cut < len; cut++) {
			char *copy = strndup(pairs[i][0], cut); /* a copy of exact size: a read past its end is seen */
			good &= copy && strlen(name_of(copy)) < CTP_DEMANGLED_MAX;
			free(copy);
		}
	}
	ok(good, "a name cut at any byte gives a terminated text");
}

int main(void)
{
#define COUNT(a) (sizeof(a) / sizeof *(a))
	test_all(plain, COUNT(plain));
	test_all(cxx, COUNT(cxx));
	test_all(rust, COUNT(rust));
	for (size_t i = 0; i < COUNT(broken); i++)
		is(name_of(broken[i]), broken[i], broken[i]);
	test_growth();
	test_cut(cxx, COUNT(cxx));
	test_cut(rust, COUNT(rust));
	return done_testing();
}
