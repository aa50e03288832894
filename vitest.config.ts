import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'
import { helpPages } from './packaging/help/help-pages.ts'

const ci = Boolean(process.env.CI)
/** Workers for tests that wait: three for each core, up to 12; beyond six cores two for each, because each takes memory. */
const waitingWorkers = Math.max(2 * availableParallelism(), Math.min(3 * availableParallelism(), 12))
const separate = ['renderer', 'e2e', 'journeys', 'faults', 'bench', 'standin', 'simulation'].map(
  (name) => `test/${name}/**`,
)

/** Only `npm run faults` runs the kinds that need it. */
const everyFault = process.env.ROOMDESK_FAULTS === 'all'
/** Faults that measure waits. */
const measuredFaults = ['controllers-handover', 'flood', 'pool'].map((name) => `test/faults/${name}.test.ts`)

// Every process that a test starts from the sources: what Node makes of their types is kept from one to the next.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compile')

/**
 * Node runs the modules of the server and of their tests as it runs them in production, types and all: nothing is transformed for them,
 * and no test stands something in for a module.
 */
const asNodeDoes = { viteModuleRunner: false, nodeLoader: false }

/**
 * The tests of a file run in random order, so that none needs an earlier one. The seed is printed: `--sequence.seed N` repeats
 * an order.
 */
const anyOrder = { shuffle: { tests: true } }

const desktopTests = {
  sequence: anyOrder,
  environment: 'node',
  experimental: asNodeDoes,
  setupFiles: ['test/support/leak-guard.ts'],
  // A file that leaves something behind for the next one fails; what drives the browser is loaded once.
  isolate: false,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  // A page on a busy machine; what is true at once passes at once.
  expect: { poll: { timeout: 15_000 } },
}

const faultTests = {
  environment: 'node',
  experimental: asNodeDoes,
  expect: { poll: { timeout: 15_000 } },
  testTimeout: 120_000,
  hookTimeout: 60_000,
} as const

/** Kinds of tests, by what they need: Node, a page, a whole app with a browser, a site that is harmed, a simulated world. */
export default defineConfig({
  test: {
    reporters: ci ? ['default', 'github-actions'] : ['default'],
    passWithNoTests: true,
    // Continuous integration repeats one order: it judges the change, and developers' runs find what depends on an order.
    ...(ci ? { sequence: { seed: 1 } } : {}),
    globalSetup: ['test/support/media/media-program.ts'],
    // Pages work most of the time: two workers for each core keep these busy.
    maxWorkers: 2 * availableParallelism(),
    // Real browsers, cameras and deadlines, on machines that others use too: one that stalls for seconds is no fault of the product. What failed once is reported as such.
    retry: ci ? 2 : 0,
    coverage: {
      provider: 'v8',
      include: ['shared/**', 'server/**', 'main/**', 'renderer/**'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        test: {
          name: 'node',
          // Most of these tests wait for other processes most of the time. Vitest runs another number of workers only in a group of its own.
          maxWorkers: waitingWorkers,
          sequence: { ...anyOrder, groupOrder: 1 },
          include: ['test/**/*.test.ts'],
          exclude: separate,
          environment: 'node',
          experimental: asNodeDoes,
          // The shell's own modules import Electron; its real entry would look for a binary.
          setupFiles: ['test/standin/register.mjs', 'test/support/leak-guard.ts'],
          // A file that leaves something behind for the next one fails; starting a process for each costs half a second of a core.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // A condition that holds at once passes at once; on a busy machine it may take its time.
          expect: { poll: { timeout: 10_000 } },
        },
      },
      {
        plugins: [helpPages(import.meta.dirname), vue()],
        test: {
          name: 'page',
          sequence: anyOrder,
          include: ['test/renderer/**/*.test.ts'],
          environment: 'happy-dom',
          setupFiles: [
            'test/support/leak-guard.ts',
            'test/renderer/plain-to-string.ts',
            'test/renderer/popover.ts',
            'test/renderer/fresh-page.ts',
          ],
          // As above; the page is mounted anew by each test, and loading the components once saves a quarter.
          isolate: false,
          // A thousand small modules are read and evaluated as one, in each process.
          deps: { optimizer: { client: { enabled: true, include: ['element-plus', 'dayjs', '@vue/test-utils'] } } },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { ...desktopTests, name: 'desktop', include: ['test/e2e/**/*.test.ts'] } },
      // The longest of these stories, a third of their work.
      { test: { ...desktopTests, name: 'faults-journeys', include: everyFault ? ['test/journeys/**/*.test.ts'] : [] } },
      {
        test: {
          ...faultTests,
          name: 'faults',
          include: everyFault ? ['test/faults/**/*.test.ts'] : [],
          exclude: measuredFaults,
        },
      },
      // In processes of their own: it puts a disk of its own under `node:fs` before the store is loaded.
      { test: { ...faultTests, name: 'simulation', include: ['test/simulation/**/*.test.ts'] } },
      // After the others: they measure how long callers wait, which a browser of another file would change.
      {
        test: {
          ...faultTests,
          name: 'faults-alone',
          include: everyFault ? measuredFaults : [],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
