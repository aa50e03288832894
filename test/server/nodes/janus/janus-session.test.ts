import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sole } from '../../../support/sole-leadership.ts'
import type { Leadership } from '../../../../server/store/store.ts'
import { AdminApi } from '../../../../server/nodes/janus/wire/admin-api.ts'
import { isJanusError, janusCodes } from '../../../../server/nodes/janus/wire/janus-error.ts'
import { JanusSession } from '../../../../server/nodes/janus/wire/janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from '../../../../server/nodes/janus/wire/janus-socket.ts'
import { DeadlineError } from '../../../../server/nodes/port/deadline.ts'
import { NodeConnectionError } from '../../../../server/nodes/port/media-node-port.ts'
import { startJanus } from '../../../support/janus/janus-server.ts'
import { shared } from '../../../support/fixtures.ts'
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const soon = AbortSignal.timeout.bind(AbortSignal, 10_000)

const janus = shared(() => startJanus())

const open = (changes: Partial<JanusSocketOptions> = {}): Promise<JanusSocket> =>
  JanusSocket.open({ url: janus().wsUrl, apiSecret: 'api secret', leadership: sole, logger, ...changes }, soon())

test("a room is created through a handle, and the plugin's errors pass through", async () => {
  const socket = await open()
  const session = await JanusSession.create(socket, soon())
  const handle = await session.attach('janus.plugin.videoroom', soon())
  const made = await handle.request({ request: 'create', room: 'r1', admin_key: 'admin key' }, soon())
  expect(made.data).toMatchObject({ videoroom: 'created', room: 'r1' })
  const again = await handle
    .request({ request: 'create', room: 'r1', admin_key: 'admin key' }, soon())
    .catch((error: unknown) => error)
  expect(isJanusError(again, janusCodes.roomExists)).toBe(true)
  await handle.detach(soon())
  expect(handle.isDetached).toBe(true)
  await expect(handle.request({ request: 'list' }, soon())).rejects.toMatchObject({ code: janusCodes.noHandle })
  await session.destroy(soon())
  expect(await session.ended).toBe('it was ended')
  socket.close()
})

test('a controller that was frozen sends Janus no request before it knows that it leads, and none if another one does', async () => {
  let gate: PromiseWithResolvers<void> | undefined
  const confirmed = (): ReturnType<Leadership['confirmed']> => gate?.promise.then(sole.confirmed) ?? sole.confirmed()
  const leadership = { confirmed }
  const socket = await open({ leadership })
  const admin = new AdminApi({ url: janus().adminUrl, secret: 'admin secret', leadership })
  const session = await JanusSession.create(socket, soon())
  const handle = await session.attach('janus.plugin.videoroom', soon())
  const rooms = async (): Promise<unknown> => {
    const { list } = await janus().ask('videoroom', { request: 'list' })
    return (list as { room: string }[]).flatMap(({ room }) => (room.startsWith('late') ? [room] : [])).sort()
  }
  const create = (room: string) => ({ request: 'create', room, admin_key: 'admin key' })
  gate = Promise.withResolvers()
  const late = Promise.all([
    handle.request(create('late 1'), soon()),
    admin.askPlugin('janus.plugin.videoroom', create('late 2'), soon()),
  ])
  expect(await rooms()).toEqual([])
  gate.resolve()
  gate = undefined
  await late
  expect(await rooms()).toEqual(['late 1', 'late 2'])

  gate = Promise.withResolvers()
  gate.promise.catch(() => {})
  gate.reject(new Error('another leads'))
  const refused = [
    handle.request(create('late 3'), soon()),
    admin.askPlugin('janus.plugin.videoroom', { request: 'destroy', room: 'late 2' }, soon()),
  ]
  for (const request of refused) await expect(request).rejects.toBeInstanceOf(NodeConnectionError)
  expect(await rooms()).toEqual(['late 1', 'late 2'])
  socket.close()
  admin.close()
})

test('a wrong secret is reported', async () => {
  const socket = await open({ apiSecret: 'another' })
  await expect(JanusSession.create(socket, soon())).rejects.toMatchObject({ code: janusCodes.unauthorized })
  socket.close()
})

test('a connection to a closed port fails with a clear error', async () => {
  await expect(open({ url: 'ws://127.0.0.1:9' })).rejects.toBeInstanceOf(NodeConnectionError)
})

test('a session is taken over by another connection, with its handles, any number of times', async () => {
  const first = await open()
  const session = await JanusSession.create(first, soon())
  const handle = await session.attach('janus.plugin.videoroom', soon())
  const ended = Promise.withResolvers<string>()
  handle.onEvent((event) => event.type === 'detached' && ended.resolve(event.reason))
  await handle.request({ request: 'create', room: 'r2', admin_key: 'admin key' }, soon())
  first.close()
  expect(await ended.promise).toBe('the connection was ended')

  const second = await open()
  const known = [{ id: handle.id, plugin: handle.plugin }]
  const claimed = await JanusSession.claim(second, session.id, known, soon())
  const answer = await claimed.handle(handle.id)?.request({ request: 'exists', room: 'r2' }, soon())
  expect(answer?.data).toMatchObject({ exists: true })
  await claimed.destroy(soon())

  await expect(JanusSession.claim(second, session.id, known, soon())).rejects.toMatchObject({
    code: janusCodes.noSession,
  })
  second.close()
})

test('a Janus that hangs delays callers only until the deadline; requests that it applied late are undone', async () => {
  const socket = await open({ answerMs: 200 })
  const session = await JanusSession.create(socket, soon())
  const before = await sessions()
  await janus().signal('SIGSTOP')
  await expect(JanusSession.create(socket, soon())).rejects.toBeInstanceOf(DeadlineError)
  const controller = new AbortController()
  const attach = session.attach('janus.plugin.streaming', controller.signal)
  controller.abort(new Error('enough'))
  await expect(attach).rejects.toThrow('enough')
  await janus().signal('SIGCONT')
  await expect.poll(async () => (await handlesOf(session.id)).length).toBe(0)
  await expect.poll(sessions).toEqual(before)
  socket.close()
})

test('when Janus dies all pending requests end', async () => {
  const socket = await open()
  const session = await JanusSession.create(socket, soon())
  await janus().signal('SIGSTOP')
  const waiting = session.attach('janus.plugin.streaming', soon())
  const refused = expect(waiting).rejects.toBeInstanceOf(NodeConnectionError)
  await sleep(0)
  await janus().restart()
  await refused
  expect(await session.ended).toMatch(/closed the connection/)
  expect(socket.isOpen).toBe(false)
})

async function admin(path: string, request: object): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ ...request, transaction: 'test', admin_secret: 'admin secret' })
  return (await (await fetch(`${janus().adminUrl}${path}`, { method: 'POST', body })).json()) as Record<string, unknown>
}

async function sessions(): Promise<unknown> {
  return (await admin('', { janus: 'list_sessions' })).sessions
}

async function handlesOf(sessionId: number): Promise<unknown[]> {
  return (await admin(`/${sessionId}`, { janus: 'list_handles' })).handles as unknown[]
}
