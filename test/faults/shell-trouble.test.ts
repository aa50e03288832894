import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noteSurroundings, notifications, windowState, withWindow } from '../e2e/around-the-page.ts'
import { answerDialogs, type Desktop, isGenuine, launch } from '../e2e/desktop.ts'

/** Creates a simulated node that takes rooms, and a device in one of them. */
async function makeSite({ call }: Desktop): Promise<void> {
  await call('settings.set', {
    console: { language: 'en' },
    deadlines: { health_interval_ms: 100, health_ms: 100 },
    // A device that returns at once is not reported.
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

/** One site over three starts of the app: each test continues where the previous one ended. */
describe('faults', () => {
  let userData: string
  let desktop: Desktop
  beforeAll(async () => {
    userData = await mkdtemp(join(tmpdir(), 'roomdesk-shell-'))
    desktop = await launch({ userData })
    await noteSurroundings(desktop.app)
  })
  afterAll(async () => {
    await desktop.quit()
    await rm(userData, { recursive: true, force: true, maxRetries: 5 })
  })
  /** Collects the texts of notifications from now on. */
  const notifiedFromNow = async (): Promise<() => Promise<string[]>> => {
    const { length } = await notifications(desktop.app)
    return async () => (await notifications(desktop.app)).slice(length)
  }

  test('a device and a node that fail while the window is hidden cause system notifications', async () => {
    await desktop.page.evaluate(`globalThis.joined = false; void roomdesk.onEvent(({ name, payload }) => {
      if (name === 'devices.changed') joined = payload.items.some(({ state }) => state === 'joined')
    })`)
    await makeSite(desktop)
    // Events are collected for a moment: a device that joined and dropped within it was never up.
    await expect.poll(() => desktop.page.evaluate('joined')).toBe(true)
    const notified = await notifiedFromNow()
    await withWindow(desktop.app, 'hide')

    await desktop.call('lab.lose_device', { userId: 'gate-1', kind: 'closed' })
    const dropped = 'Device Gate camera was lost; Roomdesk is reconnecting it.'
    await expect.poll(notified).toEqual([dropped])
    await desktop.call('lab.node_trouble', { name: 'Hall', mode: 'offline' })
    await expect.poll(notified).toEqual([dropped, 'MCU node Hall is offline.'])
    await withWindow(desktop.app, 'show')
  })

  test.each([
    ['from the menu', ({ app }: Desktop) => app.evaluate(({ app: running }) => running.quit()).catch(() => undefined)],
    ['by the system', ({ app }: Desktop) => app.process().kill('SIGTERM')],
  ])('quit %s, it keeps what was said to be done a moment before, also while a port is taken', async (_how, ask) => {
    const before = await roomCount()
    const ended = once(desktop.app.process(), 'exit')
    await Promise.all(Array.from({ length: 50 }, (_, n) => desktop.call('rooms.create', { topic: `Room ${n}` })))
    void ask(desktop)
    expect(await ended).toEqual([0, null])
    await startWhilePortIsTaken()
    expect(await roomCount()).toBe(before + 50)
  })

  describe('when the page crashes', () => {
    /** Evaluates in the current page; Playwright's own handle belongs to the crashed one. */
    const inNewPage = (expression: string): Promise<unknown> =>
      desktop.app.evaluate(
        ({ BrowserWindow }, code) =>
          BrowserWindow.getAllWindows()[0]
            ?.webContents.executeJavaScript(code)
            .catch(() => undefined),
        expression,
      )
    const crash = (): Promise<void> =>
      desktop.app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer(),
      )
    const crashed = 'The console page crashed and was reloaded. The controller kept running.'

    test('it is reloaded and the operator is notified; the controller continues', async () => {
      const url = await desktop.url('media')
      const rooms = await roomCount()
      await noteSurroundings(desktop.app)
      await crash()
      await expect.poll(() => notifications(desktop.app)).toEqual([crashed])
      await expect.poll(() => inNewPage(`roomdesk.call('rooms.list', {}).then(({ value }) => value.total)`)).toBe(rooms)
      await expect.poll(() => inNewPage(`document.querySelector('h1')?.textContent`)).toBeTruthy()
      expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
    })

    test('a page that crashes repeatedly is not reloaded for ever: the operator decides', async () => {
      const asked = await answerDialogs(desktop.app, 1)
      for (let times = 2; times <= 3; times++) {
        await crash()
        await expect.poll(() => notifications(desktop.app)).toHaveLength(times)
        await expect.poll(() => inNewPage(`document.querySelector('h1')?.textContent`)).toBeTruthy()
      }
      await crash()
      await expect.poll(asked).toHaveLength(1)
      expect(await notifications(desktop.app)).toEqual([crashed, crashed, crashed])
    })
  })

  test('a page that hangs is ended and loaded again when the operator asks for it', async () => {
    await desktop.quit()
    desktop = await launch({ userData })
    await noteSurroundings(desktop.app)
    await answerDialogs(desktop.app, 0)
    void desktop.page.evaluate('for (;;);').catch(() => undefined)
    await desktop.app.evaluate(({ BrowserWindow }) => void BrowserWindow.getAllWindows()[0]?.emit('unresponsive'))
    const heading = (): Promise<unknown> =>
      desktop.app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]
          ?.webContents.executeJavaScript(`document.querySelector('h1')?.textContent`)
          .catch(() => undefined),
      )
    await expect.poll(heading, { timeout: 20_000 }).toBeTruthy()
  })

  // Only the stand-in can leave the event out at will.
  test.skipIf(isGenuine)('a window whose page never reports a paint is shown all the same', async () => {
    await desktop.quit()
    desktop = await launch({ userData, env: { STANDIN_READY_TO_SHOW: 'never' } })
    await expect.poll(() => windowState(desktop.app), { timeout: 10_000 }).toMatchObject({ visible: true })
  })

  async function roomCount(): Promise<number> {
    return ((await desktop.call('rooms.list', {})) as { total: number }).total
  }

  /** Starts the app while another program uses its port: the operator retries, then chooses a free port once. */
  async function startWhilePortIsTaken(): Promise<void> {
    const [tryAgain, useFree] = [0, 1]
    await using holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    desktop = await launch({
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
  }
})
