import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { maxTestCameraConnections } from '../../../../shared/media/test-camera.ts'
import { playCamera } from '../../../support/camera/played-camera.ts'
import { type RunningTestCamera, startTestCamera } from '../../../support/camera/test-camera.ts'

async function connect({ camera }: RunningTestCamera): Promise<net.Socket> {
  const socket = net.connect(camera.port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Resolves when the connection is closed, also by a reset. */
const closed = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve())
  })

const request = (method: string, url: string, fields = ''): string =>
  `${method} ${url} RTSP/1.0\r\nCSeq: 1\r\n${fields}\r\n`
const overTcp = 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n'

/** The camera has no connections left, and plays to an ordinary client. */
async function expectUnhurt(running: RunningTestCamera): Promise<void> {
  await vi.waitFor(() => expect(running.camera.state.clients).toEqual([]), 3_000)
  await using played = await playCamera(running.url)
  expect(played.tracks).toHaveLength(1)
  expect(running.complaints).toEqual([])
}

test.each([
  ['bytes that are not RTSP', () => Buffer.alloc(1_000_000, 0xff)],
  ['an endless line', () => Buffer.alloc(1_000_000, 'A')],
  ['endless fields', () => Buffer.from(`OPTIONS * RTSP/1.0\r\n${'X: y\r\n'.repeat(10_000)}`)],
  ['a body without end', () => Buffer.from(request('OPTIONS', '*', 'Content-Length: 999999999\r\n'))],
  ['more requests than answers are sent', (url: string) => Buffer.from(request('OPTIONS', url).repeat(1_000))],
  ['reports without end', () => Buffer.alloc(4_000, Buffer.from([0x24, 1, 0, 0]))],
])('a client that sends %s is disconnected', async (_what, bytes) => {
  using camera = await startTestCamera()
  const socket = await connect(camera)
  socket.resume().write(bytes(camera.url))
  await closed(socket)
  await expectUnhurt(camera)
})

test('clients that reset in each phase leave nothing behind', async () => {
  using camera = await startTestCamera({ sound: 'opus' })
  const track = (number: number): string => `${camera.url}/track${number}`
  const phases = [
    '',
    'DESC',
    request('DESCRIBE', camera.url),
    request('SETUP', track(1), overTcp),
    request('SETUP', track(1), 'Transport: RTP/AVP;unicast;client_port=40000-40001\r\n'),
    request('SETUP', track(1), overTcp) + request('PLAY', camera.url),
    request('SETUP', track(1), overTcp) + request('SETUP', track(2), overTcp) + request('PLAY', camera.url),
    request('SETUP', track(1), overTcp) + request('PLAY', camera.url) + request('TEARDOWN', camera.url),
  ]
  for (const phase of phases) {
    for (const delayMs of [0, 60]) {
      const socket = await connect(camera)
      socket.write(phase)
      await wait(delayMs)
      socket.resetAndDestroy()
    }
  }
  await vi.waitFor(() => expect(camera.camera.state.clients).toEqual([]), 3_000)
  expect(camera.complaints).toEqual([])
})

test('requests out of order are refused', async () => {
  using camera = await startTestCamera()
  const statusOf = async (text: string): Promise<string> => {
    const socket = await connect(camera)
    socket.write(text)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString('latin1').slice(9, 12)
  }
  expect(await statusOf(request('PLAY', camera.url))).toBe('455')
  expect(await statusOf(request('SETUP', camera.url + '/track9', overTcp))).toBe('404')
  expect(await statusOf(request('SETUP', camera.url + '/track1', 'Transport: RTP/AVP;multicast\r\n'))).toBe('461')
  expect(await statusOf(request('SETUP', camera.url + '/track1'))).toBe('461')
  expect(await statusOf(request('DESCRIBE', 'rtsp://127.0.0.1/other'))).toBe('404')
  expect(await statusOf(request('DESCRIBE', 'http://127.0.0.1/'))).toBe('404')
  expect(await statusOf(request('RECORD', camera.url))).toBe('501')
  expect(await statusOf('describe\r\n\r\n')).toBe('400')
})

test('connections above the limit are closed', async () => {
  using camera = await startTestCamera()
  const sockets = await Promise.all(Array.from({ length: maxTestCameraConnections }, () => connect(camera)))
  await vi.waitFor(() => expect(camera.camera.state.clients).toHaveLength(maxTestCameraConnections))
  const socket = await connect(camera)
  await closed(socket.resume())
  for (const each of sockets) each.destroy()
  await expectUnhurt(camera)
})

test('a client that never reads is disconnected, and costs a bounded number of bytes', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
  try {
    using camera = await startTestCamera({ codec: 'mjpeg' })
    const socket = await connect(camera)
    socket.pause()
    socket.write(request('SETUP', `${camera.url}/track1`, overTcp) + request('PLAY', camera.url))
    await vi.waitFor(() => expect(camera.camera.state.clients[0]?.state).toBe('playing'))
    let memory = 0
    for (let second = 0; second < 900 && camera.camera.state.clients.length > 0; second++) {
      vi.advanceTimersByTime(1_000)
      await wait(1)
      memory = Math.max(memory, process.memoryUsage().arrayBuffers)
    }
    expect(camera.camera.state.clients).toEqual([])
    expect(memory).toBeLessThan(300_000_000)
    socket.destroy()
  } finally {
    vi.useRealTimers()
  }
}, 30_000)
