import { mkdtemp } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { SignalClient } from '../support/media/signal-client.ts'

// Long timeouts for whole programs on a busy machine.
vi.setConfig({ testTimeout: 40_000, hookTimeout: 40_000 })

const credential = { access_key: 'lobby', secret_key: 'a secret of the tests', label: 'Lobby', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] }
const preload = `--require=${join(import.meta.dirname, '../support/fail-on-signal.cjs')}`
const failing = (program: string) => ({ NODE_OPTIONS: preload, FAILING_PROGRAM: program })
/** Time within which everybody is back. */
const backMs = 5_000

/** Joins like the room page, again and again, until the node accepts. */
async function comeBack(url: string, room: string, token: string): Promise<SignalClient> {
  for (;;) {
    try {
      return await SignalClient.join(url, room, { token })
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

interface Meeting {
  controller: Headless
  api: ApiClient
  room: string
  token: string
  person: SignalClient
}

/** Starts a controller with a camera and a user in a room. */
async function meeting(program: string): Promise<Meeting> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-crash-'))
  folders.push(folder)
  const controller = await startHeadless({ folder, site, env: failing(program) })
  controllers.push(controller)
  const api = new ApiClient(controller.ready, credential)
  await api.authenticate()
  const room = await api.createRoom()
  const params = { roomId: room, userId: 'cam', userName: 'Gate', userAddress: camera.url('/cam') }
  expect(await api.outgoing('createOutgoingUser', params)).toMatchObject({ ret: 0 })
  const link = await api.get('/rtc/room/join_url', { room_id: room, user_id: 'ann', user_name: 'Ann' })
  const token = new URL(String(link.url)).hash.replace('#token=', '')
  return { controller, api, room, token, person: await SignalClient.join(controller.ready.node, room, { token }) }
}

/** Milliseconds until the user and the camera are in the room again. */
async function untilBack({ controller, room, token }: Meeting): Promise<number> {
  const began = performance.now()
  const person = await comeBack(controller.ready.node, room, token)
  if (!person.joined.people.some(({ user_id }) => user_id === 'cam')) {
    await person.next((message) => message.type === 'person_joined' && message.person.user_id === 'cam', backMs)
  }
  const milliseconds = performance.now() - began
  person.drop()
  return milliseconds
}

let camera: Camera
const folders: string[] = []
const controllers: Headless[] = []
beforeAll(async () => {
  camera = await startCamera()
})
afterAll(async () => {
  // Left over by a failed test.
  for (const { child } of controllers) if (child.exitCode === null) child.kill('SIGKILL')
  await Promise.all([camera.kill(), ...folders.map(removeFolder)])
})

describe.concurrent('an unexpected error', () => {
  test('in the controller: it restarts itself, and users, cameras and clients find everything unchanged; at most three times a minute', async () => {
    const { controller, api, ...visit } = await meeting('headless.js')
    const before = controller.ready
    // A client keeps creating rooms; acknowledged ones must remain.
    const acknowledged: string[] = []
    const creating = (async () => {
      for (;;) acknowledged.push(await api.createRoom())
    })().catch(() => {})
    while (acknowledged.length < 20) await new Promise((resolve) => setImmediate(resolve))
    process.kill(before.pid, 'SIGUSR2')
    const [again, milliseconds] = await Promise.all([
      controller.readyAgain(),
      once(visit.person.socket, 'close').then(async () => await untilBack({ controller, api, ...visit })),
      creating,
    ])
    expect(milliseconds).toBeLessThan(backMs)
    // The same process id, and the same ports although free ones were requested.
    expect(again).toEqual(before)
    for (const room_id of [visit.room, ...acknowledged]) {
      expect(await api.get('/rtc/room/get', { room_id })).toMatchObject({ ret: 0 })
    }
    const failures = controller.log.filter((line) => line.includes('"unexpected error"'))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain('an error that nobody foresaw')
    expect(failures[0]).toContain('fail-on-signal.cjs')
    const { attention } = await controller.rpc('overview.get', undefined)
    expect(attention).toContainEqual(expect.objectContaining({ level: 'warning', code: 'restarted', subject: '1' }))
    expect(await (await fetch(`${again.console}/metrics`)).text()).toContain('roomdesk_restarts_total 1')
    const { items } = await controller.rpc('events.list', { groups: ['system'] })
    expect(items).toContainEqual(expect.objectContaining({ kind: 'controller.restarted', level: 'error' }))
    expect(await controller.rpc('events.verify', {})).toMatchObject({ ok: true })

    // A rejection has the same effect.
    process.kill(before.pid, 'SIGWINCH')
    expect(await controller.readyAgain()).toEqual(before)
    expect(controller.log.some((line) => line.includes('a rejection that nobody foresaw'))).toBe(true)

    // A program that always fails ends.
    process.kill(before.pid, 'SIGUSR2')
    await controller.readyAgain()
    const ended = once(controller.child, 'exit')
    process.kill(before.pid, 'SIGUSR2')
    expect(await ended).toEqual([70, null])
    expect(controller.log.at(-1)).toMatch(/^Roomdesk met an unexpected error 4 times within 60 s .* not started again/)
  })

  test('in the media node: another process takes its place, and users and cameras are back', async () => {
    const visit = await meeting('')
    const { controller, person } = visit
    const running = controller.log.map((line) => /"pid":(\d+).*the embedded node runs/.exec(line)?.[1])
    const pid = Number(running.find((text) => text !== undefined))
    process.kill(pid, 'SIGUSR2')
    await person.closed
    expect(await untilBack(visit)).toBeLessThan(backMs)
    const failure = controller.log.find((line) => line.includes('an error that nobody foresaw'))
    expect(failure).toContain('fail-on-signal.cjs')
    expect(controller.log.some((line) => line.includes('it ended with exit code 70'))).toBe(true)
    // A restarted process can be stopped like any other.
    process.kill(controller.ready.pid, 'SIGUSR2')
    await controller.readyAgain()
    expect(await controller.stop()).toBe(0)
  })
})
