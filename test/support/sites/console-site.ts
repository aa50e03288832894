import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach } from 'vitest'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import { shared } from '../fixtures.ts'
import { startHeadless } from '../headless.ts'
import { openWindows, type Windows } from '../chromium.ts'
import { launch } from '../../e2e/desktop.ts'

/** Ways to run the controller: the console is the same. */
export type Face = 'desktop' | 'headless'

/** A console in a browser, with its controller. */
export interface ConsoleUnderTest {
  face: Face
  /** Page of the console; replaced by a restart. */
  page: Page
  /** Exceptions and console errors of the page so far. */
  problems: string[]
  /** Calls a procedure like an operator's script. Rejects with the error message. */
  call<N extends ProcedureName>(name: N, input?: ProcedureInput<N>): Promise<ProcedureOutput<N>>
  /** URLs of both APIs. */
  urls: () => Promise<{ media: string; device: string }>
  /** Stops the controller in order and starts it again on the same data. */
  restart: () => Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Options of a console. */
export interface OpenOptions {
  /** Fills the data folder before the start. */
  prepare?: (dataFolder: string) => Promise<void>
  /** Ports: free ones, overriding the settings, or those of the settings. */
  ports?: 'free' | 'settings'
  /** Whether the console opens with the welcome of a first start. */
  isFirstStart?: boolean
}

/** One running face; a restart replaces it. */
interface Running {
  page: Page
  call: (name: string, input: unknown) => Promise<unknown>
  stop: () => Promise<void>
}

/** Size of the window in pixels. */
const desktopSize = { width: 1360, height: 860 }
/** Time within which a page on a busy machine shows a change, in milliseconds. */
const patienceMs = 15_000

/** Starts a controller with this face on new data, and opens its console. */
export async function openConsole(face: Face, options: OpenOptions = {}): Promise<ConsoleUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), `roomdesk-${face}-`))
  const dataFolder = join(folder, 'site')
  await mkdir(dataFolder, { mode: 0o700 })
  await options.prepare?.(dataFolder)
  const { ports = 'free', isFirstStart = true } = options
  const start = face === 'desktop' ? () => startDesktop(folder, ports) : () => startInBrowser(dataFolder, ports)
  let running = await start()
  const problems: string[] = []
  const follow = ({ page }: Running): void => {
    page.setDefaultTimeout(patienceMs)
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      const { url } = message.location()
      if (message.type() === 'error') problems.push(`${message.text()} ${url}`)
    })
  }
  follow(running)
  const opened: ConsoleUnderTest = {
    face,
    page: running.page,
    problems,
    // The controller has validated its answer against the contract.
    call: async <N extends ProcedureName>(name: N, input?: ProcedureInput<N>) =>
      (await running.call(name, input ?? {})) as ProcedureOutput<N>,
    async urls() {
      const { listeners } = await opened.call('overview.get')
      const url = (wanted: string): string => listeners.find(({ name }) => name === wanted)?.url ?? ''
      return { media: url('media'), device: url('device') }
    },
    async restart() {
      await running.stop()
      running = await start()
      follow(running)
      opened.page = running.page
    },
    async [Symbol.asyncDispose]() {
      await running.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  if (!isFirstStart) {
    await opened.page.getByRole('button', { name: 'Skip the first run' }).click()
    await opened.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  }
  return opened
}

/**
 * Shares a console among stories. A failed story may leave a dialog open, which would block its repetition and the other
 * stories: the page is reloaded.
 */
export function sharedConsole(face: Face): () => ConsoleUnderTest {
  const opened = shared(() => openConsole(face, { isFirstStart: false }))
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    await opened().page.setViewportSize(desktopSize)
    await opened().page.reload()
  })
  return opened
}

async function startDesktop(folder: string, ports: 'free' | 'settings'): Promise<Running> {
  const { page, call, quit } = await launch({ userData: folder, ports })
  return { page, call, stop: quit }
}

async function startInBrowser(dataFolder: string, ports: 'free' | 'settings'): Promise<Running> {
  const controller = await startHeadless({ folder: dataFolder, ports })
  let browser: Windows | undefined
  try {
    browser = await openWindows()
    // Less motion: every step of an animation is painted by the processor. The window of the app moves as it does for most people.
    const page = await browser.newPage({
      viewport: desktopSize,
      locale: 'en-US',
      reducedMotion: 'reduce',
    })
    const key = (await readFile(join(dataFolder, 'console.key'), 'utf8')).trim()
    await page.goto(`${controller.ready.console}/#key=${key}`)
    await page.getByRole('navigation').first().waitFor()
    return {
      page,
      call: async (name, input) => {
        const result = await controller.result(name as ProcedureName, input as never)
        if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
        return result.value
      },
      stop: async () => {
        await browser?.close()
        await controller.stop()
      },
    }
  } catch (error) {
    await browser?.close()
    await controller.stop()
    throw error
  }
}
