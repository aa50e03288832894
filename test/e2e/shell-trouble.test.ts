import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noteSurroundings, notifications, windowState, withWindow } from './around-the-page.ts'
import { answerDialogs, type Desktop, launch } from './desktop.ts'

let userData: string
beforeEach(async () => {
  userData = await mkdtemp(join(tmpdir(), 'roomdesk-shell-'))
})
afterEach(() => rm(userData, { recursive: true, force: true, maxRetries: 5 }))

/** A simulated node that takes rooms, and a device in one of them. */
async function makeSite({ call }: Desktop): Promise<void> {
  await call('settings.set', {
    console: { language: 'en' },
    deadlines: { health_interval_ms: 100, health_ms: 100 },
    // A device that is back at once is not told.
    devices: { reconnect_first_ms: 60_000, reconnect_longest_ms: 60_000 },
  })
  for (const { config } of (await call('nodes.list')) as { config: { name: string } }[]) {
    await call('nodes.remove', { name: config.name })
  }
  await call('nodes.add', { name: 'Hall', kind: 'simulated' })
  const { room_id } = (await call('rooms.create', { topic: 'Gate' })) as { room_id: string }
  await call('devices.create', {
    roomId: room_id,
    userId: 'gate-1',
    userName: 'Gate camera',
    userAddress: 'rtsp://127.0.0.1/gate',
    join: 'required',
  })
}

test('a device and a node that go down while the window is hidden are told in the system', async () => {
  await using desktop = await launch({ userData })
  await desktop.page.evaluate(`globalThis.joined = false; void roomdesk.onEvent(({ name, payload }) => {
    if (name === 'devices.changed') joined = payload.items.some(({ state }) => state === 'joined')
  })`)
  await makeSite(desktop)
  // Events are gathered for a moment: what joined and dropped within it was never up.
  await expect.poll(() => desktop.page.evaluate('joined')).toBe(true)
  await noteSurroundings(desktop.app)
  await withWindow(desktop.app, 'hide')

  await desktop.call('lab.lose_device', { userId: 'gate-1', kind: 'closed' })
  const dropped = 'Device Gate camera dropped; Roomdesk reconnects it.'
  await expect.poll(() => notifications(desktop.app)).toEqual([dropped])
  await desktop.call('lab.node_trouble', { name: 'Hall', mode: 'offline' })
  await expect.poll(() => notifications(desktop.app)).toEqual([dropped, 'MCU node Hall is offline.'])
})

describe('when the page crashes', () => {
  /** The page that is there now; Playwright's own handle is of the one that crashed. */
  const inNewPage = (desktop: Desktop, expression: string): Promise<unknown> =>
    desktop.app.evaluate(
      ({ BrowserWindow }, code) =>
        BrowserWindow.getAllWindows()[0]
          ?.webContents.executeJavaScript(code)
          .catch(() => undefined),
      expression,
    )
  const crash = (desktop: Desktop): Promise<void> =>
    desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer())

  test('it is loaded again and the operator is told; the controller goes on', async () => {
    await using desktop = await launch({ userData })
    await desktop.call('settings.set', { console: { language: 'en' } })
    await desktop.call('rooms.create', { topic: 'Before' })
    const url = await desktop.url('media')
    await noteSurroundings(desktop.app)
    await crash(desktop)
    await expect
      .poll(() => notifications(desktop.app))
      .toEqual(['The console page crashed and was loaded again. The controller kept running.'])
    await expect
      .poll(() => inNewPage(desktop, `roomdesk.call('rooms.list', {}).then(({ value }) => value.total)`))
      .toBe(1)
    await expect.poll(() => inNewPage(desktop, `document.querySelector('h1')?.textContent`)).toBeTruthy()
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
  })

  test('one that crashes again and again is not loaded for ever: the operator decides', async () => {
    await using desktop = await launch({ userData })
    await noteSurroundings(desktop.app)
    const asked = await answerDialogs(desktop.app, 1)
    for (let times = 1; times <= 3; times++) {
      await crash(desktop)
      await expect.poll(async () => (await notifications(desktop.app)).length).toBe(times)
      await expect.poll(() => inNewPage(desktop, 'typeof roomdesk')).toBe('object')
    }
    await crash(desktop)
    await expect.poll(asked).toHaveLength(1)
    expect(await notifications(desktop.app)).toHaveLength(3)
  })
})

describe('quitting', () => {
  test('keeps what was said to be done a moment before, however it is asked', async () => {
    const ways: ((desktop: Desktop) => unknown)[] = [
      (desktop) => desktop.app.evaluate(({ app }) => app.quit()).catch(() => undefined),
      (desktop) => desktop.app.process().kill('SIGTERM'),
    ]
    for (const [index, way] of ways.entries()) {
      const desktop = await launch({ userData })
      const before = (await desktop.call('rooms.list', {})) as { total: number }
      expect(before.total).toBe(index * 50)
      const ended = once(desktop.app.process(), 'exit')
      await Promise.all(Array.from({ length: 50 }, (_, n) => desktop.call('rooms.create', { topic: `Room ${n}` })))
      way(desktop)
      expect(await ended).toEqual([0, null])
    }
    await using again = await launch({ userData })
    expect(await again.call('rooms.list', {})).toMatchObject({ total: 100 })
  })
})

describe('a port that is taken', () => {
  let holder: Server
  let port: number
  beforeEach(async () => {
    holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    port = (holder.address() as AddressInfo).port
  })
  afterEach(() => new Promise((resolve) => holder.close(resolve)))

  test('is told with its number; free ports serve for once', async () => {
    const [tryAgain, useFree] = [0, 1]
    await using desktop = await launch({
      userData,
      before: [join(import.meta.dirname, 'answer-port-question.cjs')],
      args: [`--media-port=${port}`],
      env: { ANSWERS: [tryAgain, useFree].join(',') },
    })
    const url = await desktop.url('media')
    expect(new URL(url).port).not.toBe(String(port))
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
    const questions = await desktop.app.evaluate(() => (globalThis as { questions?: string[] }).questions)
    expect(questions).toHaveLength(2)
    for (const question of questions ?? []) expect(question).toContain(String(port))
    await expect.poll(() => windowState(desktop.app)).toMatchObject({ visible: true })
  })
})
