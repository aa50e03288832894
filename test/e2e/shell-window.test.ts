import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { windowState, withWindow } from './around-the-page.ts'
import { answerDialogs, type Desktop, launch } from './desktop.ts'

let userData: string
beforeEach(async () => {
  userData = await mkdtemp(join(tmpdir(), 'roomdesk-shell-'))
})
afterEach(() => rm(userData, { recursive: true, force: true, maxRetries: 5 }))

describe('one instance', () => {
  test('a second launch brings the first to the front and ends; one at login leaves it hidden', async () => {
    await using desktop = await launch({ userData })
    await withWindow(desktop.app, 'hide')
    expect(await launchAgain(desktop, ['--hidden'])).toBe(0)
    expect(await windowState(desktop.app)).toMatchObject({ visible: false })
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: true, focused: true })
    await withWindow(desktop.app, 'minimize')
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ minimized: false, focused: true })
  })
})

describe('the window', () => {
  test('opens where it was, and as large', async () => {
    const put = { x: 120, y: 80, width: 1100, height: 700 }
    const first = await launch({ userData })
    await first.app.evaluate(({ BrowserWindow }, bounds) => BrowserWindow.getAllWindows()[0]?.setBounds(bounds), put)
    await first.quit()
    const second = await launch({ userData })
    expect(await windowState(second.app)).toMatchObject({ bounds: put, maximized: false })
    await withWindow(second.app, 'maximize')
    await second.quit()
    await using third = await launch({ userData })
    expect(await windowState(third.app)).toMatchObject({ maximized: true })
  })

  test('stays hidden at login until it is wanted', async () => {
    await using desktop = await launch({ userData, args: ['--hidden'] })
    await desktop.page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
    expect(await windowState(desktop.app)).toMatchObject({ visible: false })
    expect(await launchAgain(desktop)).toBe(0)
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: true })
  })
})

describe('closing', () => {
  const [keepRunning, quit, cancel] = [0, 1, 2]

  test('asks the first time, hides where that was chosen, and does not ask again', async () => {
    const first = await launch({ userData })
    let asked = await answerDialogs(first.app, cancel)
    await withWindow(first.app, 'close')
    await expect.poll(asked).toEqual(['Keep Roomdesk running when its window is closed?'])
    expect(await windowState(first.app)).toMatchObject({ visible: true })

    asked = await answerDialogs(first.app, keepRunning, true)
    await withWindow(first.app, 'close')
    await expect.poll(() => windowState(first.app)).toMatchObject({ visible: false })
    expect(await asked()).toHaveLength(1)
    // It goes on working.
    expect((await fetch(`${await first.url('media')}/openapi.json`)).status).toBe(200)
    await withWindow(first.app, 'show')
    await withWindow(first.app, 'close')
    await expect.poll(() => windowState(first.app)).toMatchObject({ visible: false })
    expect(await asked()).toHaveLength(1)
    await first.quit()

    await using second = await launch({ userData })
    asked = await answerDialogs(second.app, cancel)
    await withWindow(second.app, 'close')
    await expect.poll(() => windowState(second.app)).toMatchObject({ visible: false })
    expect(await asked()).toEqual([])
  })

  test('quits where that was chosen, and asks again where it was for once', async () => {
    for (let time = 0; time < 2; time++) {
      await using desktop = await launch({ userData })
      const ended = once(desktop.app.process(), 'exit')
      await answerDialogs(desktop.app, quit, false)
      await withWindow(desktop.app, 'close')
      expect(await ended).toEqual([0, null])
    }
  })
})

/** Starts the app again as the first was started, and resolves with how it ended. */
async function launchAgain({ app }: Desktop, args: readonly string[] = []): Promise<number | null> {
  const [program, ...given] = app.process().spawnargs
  // Without what lets a test into the process, and without how the first one was to look.
  const own = given.filter((argument, index) => {
    return !/^--(inspect|remote-debugging|hidden)/.test(argument) && argument !== '-r' && given[index - 1] !== '-r'
  })
  const child = spawn(program ?? '', [...own, ...args], { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
