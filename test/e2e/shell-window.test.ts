import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { windowState, withWindow } from './around-the-page.ts'
import { answerDialogs, type Desktop, launch } from './desktop.ts'
import { step } from '../support/step.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const [keepRunning, quit, cancel] = [0, 1, 2]
const put = { x: 120, y: 80, width: 1100, height: 700 }

/** One user's window over three starts of the app: each test continues where the previous one ended. */
test('the window', { timeout: 240_000 }, async () => {
  const userData = await temporaryFolder(tmpdir())
  let desktop = await launch({ userData })
  onTestFinished(async () => await desktop.quit())

  await step('a second launch brings the first to the front and ends; one at login leaves it hidden', async () => {
    await withWindow(desktop.app, 'hide')
    expect(await launchAgain(desktop, ['--hidden'])).toBe(0)
    expect(await windowState(desktop.app)).toMatchObject({ visible: false })
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: true, focused: true })
    await withWindow(desktop.app, 'minimize')
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ minimized: false, focused: true })
  })

  await step('asks when it is closed for the first time, and stays if nothing is chosen', async () => {
    const asked = await answerDialogs(desktop.app, cancel)
    await withWindow(desktop.app, 'close')
    await expect.poll(asked).toEqual(['Keep Roomdesk running when its window is closed?'])
    expect(await windowState(desktop.app)).toMatchObject({ visible: true })
  })

  await step('quits if that is chosen', async () => {
    await desktop.app.evaluate(({ BrowserWindow }, bounds) => BrowserWindow.getAllWindows()[0]?.setBounds(bounds), put)
    await withWindow(desktop.app, 'maximize')
    const ended = once(desktop.app.process(), 'exit')
    await answerDialogs(desktop.app, quit, false)
    await withWindow(desktop.app, 'close')
    expect(await ended).toEqual([0, null])
  })

  await step('opens at its last place and size, and shows nothing before its page has painted', async () => {
    desktop = await launch({ userData, before: [join(import.meta.dirname, 'note-window-events.cjs')] })
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ bounds: put, maximized: true, visible: true })
    const told = await desktop.app.evaluate(() => (globalThis as unknown as { windowEvents: string[] }).windowEvents)
    expect(told[0]).toBe('ready-to-show')
    await withWindow(desktop.app, 'unmaximize')
  })

  await step('a full screen is left before the window is hidden: macOS would keep its space, black', async () => {
    await desktop.app.evaluate(async ({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows()
      const full = new Promise<void>((resolve) => window?.once('enter-full-screen', () => resolve()))
      window?.setFullScreen(true)
      await full
    })
    await answerDialogs(desktop.app, keepRunning, false)
    await withWindow(desktop.app, 'close')
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: false, full: false })
    await withWindow(desktop.app, 'show')
  })

  await step(
    'asks again after quitting was chosen once; hides without asking once that was chosen for good',
    async () => {
      const asked = await answerDialogs(desktop.app, keepRunning, true)
      await withWindow(desktop.app, 'close')
      await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: false })
      expect(await asked()).toHaveLength(1)
      // It keeps working.
      expect((await fetch(`${await desktop.url('media')}/openapi.json`)).status).toBe(200)
      await withWindow(desktop.app, 'show')
      await withWindow(desktop.app, 'close')
      await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: false })
      expect(await asked()).toHaveLength(1)
    },
  )

  await step('started at login it stays hidden until it is needed, and then has its last size', async () => {
    await withWindow(desktop.app, 'show')
    await withWindow(desktop.app, 'maximize')
    await desktop.quit()
    desktop = await launch({ userData, args: ['--hidden'] })
    await desktop.page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
    expect(await windowState(desktop.app)).toMatchObject({ visible: false })
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: true, maximized: true })
  })

  await step('hides without a question after the app was restarted, too', async () => {
    const asked = await answerDialogs(desktop.app, cancel)
    await withWindow(desktop.app, 'close')
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: false })
    expect(await asked()).toEqual([])
  })
})

/** Starts the app again like the first time, and resolves to its exit code. */
async function launchAgain({ app }: Desktop, args: readonly string[] = []): Promise<number | null> {
  const [program, ...given] = app.process().spawnargs
  // Removes the arguments of the test driver, and those for the first window.
  const own = given.filter((argument, index) => {
    return !/^--(inspect|remote-debugging|hidden)/.test(argument) && argument !== '-r' && given[index - 1] !== '-r'
  })
  const child = spawn(program ?? '', [...own, ...args], { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
