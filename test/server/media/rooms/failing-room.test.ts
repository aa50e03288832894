import { randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { FfmpegRunner } from '../../../../server/media/transcode/ffmpeg-runner.ts'
import { MediaServer } from '../../../../server/media/media-server.ts'
import { nodeWeb } from '../../../../server/bin/node-web.ts'
import { issueToken } from '../../../../shared/files/signed-tokens.ts'
import { startSchema } from '../../../../shared/media/control.ts'
import type { ControllerEnd } from '../../../../shared/media/controller-methods.ts'
import { complaintLog } from '../../../support/media/complaints.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'

const room = { topic: '', mode: 1, hostPassword: '', attendeeMax: 9, maxVideo: 9, maxAudio: 9, locked: false } as const

/** Starts a node in this process whose controller fails when the user `fatal` leaves. */
async function startNode() {
  const complaints: string[] = []
  const log = complaintLog(complaints)
  const left: string[] = []
  const controller: ControllerEnd = {
    request: () => Promise.reject(new Error('it answers nothing')),
    notify(method: string, params: object) {
      if (method !== 'left' || !('userId' in params)) return
      if (params.userId === 'fatal') throw new TypeError('nobody foresaw this')
      left.push(String(params.userId))
    },
  }
  const key = randomBytes(32)
  const start = startSchema.parse({
    version: 1,
    host: '127.0.0.1',
    port: 0,
    token_key: key.toString('base64'),
    settings: { resume_ms: 50 },
  })
  const server = await MediaServer.start(
    start,
    { web: nodeWeb(log), ffmpeg: new FfmpegRunner(() => {}, log), controller },
    log,
  )
  const url = `http://127.0.0.1:${server.ports.port}`
  const never = new AbortController().signal
  for (const roomId of ['torn', 'whole']) await server.handlers.open_room({ ...room, roomId }, never)
  const now = Date.now()
  const join = (roomId: string, userId: string) =>
    SignalClient.join(url, roomId, {
      token: issueToken('join-token', key, {
        id: userId,
        room: roomId,
        user: userId,
        role: 'member',
        iat: now,
        exp: now + 60_000,
      }),
    })
  const users = async (roomId: string) =>
    (await server.handlers.users({ roomId }, never)).users.map(({ userId }) => userId)
  return { server, join, users, left, complaints, [Symbol.asyncDispose]: () => server.close() }
}

test('an unexpected error in a room’s timer is logged in full and ends this room: its users rejoin a new one, and other rooms continue', async () => {
  await using node = await startNode()
  const ended = await node.join('torn', 'bob')
  const other = await node.join('whole', 'cleo')
  const fatal = await node.join('torn', 'fatal')
  // A timer of the room removes users who do not return in time.
  fatal.drop()
  await ended.closed
  // Their page reconnects by itself.
  expect(ended.messages).toContainEqual({ type: 'removed', reason: 'restarting' })
  expect(node.complaints).toHaveLength(1)
  expect(node.complaints[0]).toContain('TypeError: nobody foresaw this\n    at ')
  expect(node.left).toEqual(['bob'])
  expect(await node.users('torn')).toEqual([])
  const again = await node.join('torn', 'bob')
  expect(again.joined.people.map(({ user_id }) => user_id)).toEqual(['bob'])
  expect(await node.server.handlers.health({}, new AbortController().signal)).toMatchObject({ rooms: 2, users: 2 })
  other.send({ type: 'ping', id: 1 })
  await other.next('pong')
})

test('a connection whose ping fails ends alone', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using node = await startNode()
    const [first, second] = [await node.join('torn', 'ann'), await node.join('torn', 'bob')]
    const { WebSocket } = await import('ws')
    vi.spyOn(WebSocket.prototype, 'ping').mockImplementationOnce(() => {
      throw new TypeError('nobody foresaw this')
    })
    await vi.advanceTimersByTimeAsync(5_000)
    await first.closed
    expect(node.complaints[0]).toContain('TypeError: nobody foresaw this\n    at ')
    second.send({ type: 'ping', id: 1 })
    await second.next('pong')
  } finally {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
})
