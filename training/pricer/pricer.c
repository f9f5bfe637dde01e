/* pricer: revalues a portfolio of European options under many market scenarios.
 *
 * usage: pricer OPTIONS SCENARIOS          (threads: OMP_NUM_THREADS)
 *
 * Every scenario shifts all spot prices and volatilities, prices each option with the formula of
 * Black and Scholes (1973) and sums the portfolio; the result is the loss that 5 % of the scenarios
 * exceed. Data-parallel and compute bound: threads share nothing but the sums.
 * Check: scenario 0 and one more are priced again with erfc() instead of the polynomial
 * of Abramowitz and Stegun 26.2.17 (absolute error 7.5e-8), option by option.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

struct portfolio {
    long count;
    double *spot, *strike, *rate, *volatility, *years, *price;
    int* is_put;
};

struct scenario {
    double spot_factor, volatility_factor;
};

static double normal_cdf(double x) {
    const double a = fabs(x);
    const double k = 1.0 / (1.0 + 0.2316419 * a);
    const double poly =
        k * (0.319381530 +
             k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    const double tail = 0.3989422804014327 * exp(-0.5 * a * a) * poly;
    return x < 0.0 ? tail : 1.0 - tail;
}

static double exact_cdf(double x) { return 0.5 * erfc(-x * 0.7071067811865476); }

static inline double option_price(const struct portfolio* p, long i, struct scenario s,
                                  double (*cdf)(double)) {
    const double spot = p->spot[i] * s.spot_factor;
    const double volatility = p->volatility[i] * s.volatility_factor;
    const double strike = p->strike[i], rate = p->rate[i], years = p->years[i];
    const double spread = volatility * sqrt(years);
    const double d1 =
        (log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
    const double d2 = d1 - spread;
    const double discounted = strike * exp(-rate * years);
    if (p->is_put[i]) return discounted * cdf(-d2) - spot * cdf(-d1);
    return spot * cdf(d1) - discounted * cdf(d2);
}

static struct portfolio make_portfolio(long count) {
    const size_t bytes = (size_t)count * sizeof(double);
    struct portfolio p = {count,
                          pages_for(bytes),
                          pages_for(bytes),
                          pages_for(bytes),
                          pages_for(bytes),
                          pages_for(bytes),
                          pages_for(bytes),
                          pages_for((size_t)count * sizeof(int))};
    /* Shared out as the scenarios share them out. */
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; ++i) {
        p.spot[i] = 20.0 + 180.0 * rng_unit(1, (uint64_t)i);
        p.strike[i] = p.spot[i] * (0.7 + 0.6 * rng_unit(2, (uint64_t)i));
        p.rate[i] = 0.01 + 0.05 * rng_unit(3, (uint64_t)i);
        p.volatility[i] = 0.10 + 0.50 * rng_unit(4, (uint64_t)i);
        p.years[i] = 0.10 + 3.0 * rng_unit(5, (uint64_t)i);
        p.is_put[i] = (int)(rng_at(6, (uint64_t)i) & 1);
        p.price[i] = 0.0;
    }
    return p;
}

static struct scenario make_scenario(long s) {
    if (s == 0) return (struct scenario){1.0, 1.0};
    return (struct scenario){0.8 + 0.4 * rng_unit(7, (uint64_t)s),
                             0.8 + 0.6 * rng_unit(8, (uint64_t)s)};
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Largest difference to the reference in the scenario; `total` gets the reference's sum. */
static double reference_difference(const struct portfolio* p, struct scenario s, double* total) {
    double worst = 0.0, sum = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst) reduction(+ : sum)
    for (long i = 0; i < p->count; ++i) {
        const double exact = option_price(p, i, s, exact_cdf);
        worst = fmax(worst, fabs(exact - option_price(p, i, s, normal_cdf)) / p->spot[i]);
        sum += exact;
    }
    *total = sum;
    return worst;
}

int main(int argc, char** argv) {
    const long options = arg_long(argc, argv, 1, "OPTIONS", 1, 100000000);
    const long scenarios = arg_long(argc, argv, 2, "SCENARIOS", 2, 1000000);
    struct portfolio p = make_portfolio(options);
    double* value = pages_for((size_t)scenarios * sizeof(double));

    roi_begin();
    for (long s = 0; s < scenarios; ++s) {
        const struct scenario shift = make_scenario(s);
        double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long i = 0; i < options; ++i) {
            p.price[i] = option_price(&p, i, shift, normal_cdf);
            sum += p.price[i];
        }
        value[s] = sum;
        heartbeat();
    }
    roi_end();

    const long checked[2] = {0, scenarios - 1};
    for (int c = 0; c < 2; ++c) {
        double total;
        const double worst = reference_difference(&p, make_scenario(checked[c]), &total);
        if (!(worst < 1e-6) || !(fabs(total - value[checked[c]]) <= 1e-6 * total)) {
            printf("wrong: scenario %ld sums to %.9g, reference %.9g, worst option off by %.3g\n",
                   checked[c], value[checked[c]], total, worst);
            return 1;
        }
    }
    const double today = value[0];
    qsort(value, (size_t)scenarios, sizeof(double), ascending);
    printf("ok loss_at_5_percent %.6g of %.6g\n", today - value[scenarios / 20], today);
    return 0;
}
