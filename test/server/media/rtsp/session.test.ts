import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import dgram from 'node:dgram'
import { createServer } from 'node:http'
import net from 'node:net'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { AllowedAddresses } from '../../../../server/media/rtsp/allowed-addresses.ts'
import { RtspError } from '../../../../server/media/rtsp/rtsp-error.ts'
import { type RtspListener, type RtspOptions, RtspSession } from '../../../../server/media/rtsp/session.ts'
import {
  type Answer,
  h264Description,
  interleavedPacket,
  type SeenRequest,
  startScriptedCamera,
  usualAnswer,
} from '../../../support/camera/scripted-camera.ts'
import { HostileCamera, interleaved, rtpPacket } from '../../../support/camera/hostile-camera.ts'
import { complaintLog } from '../../../support/media/complaints.ts'

const quiet: RtspListener = { rtp: () => {}, rtcp: () => {}, ended: () => {} }
const never = new AbortController().signal

function options(port: number, more: Partial<RtspOptions> = {}): RtspOptions {
  return {
    address: parseDeviceAddress(`rtsp://127.0.0.1:${port}/cam`),
    login: undefined,
    transport: 'auto',
    trustAnyCertificate: false,
    answerMs: 1_000,
    stallMs: 1_000,
    log: complaintLog(),
    ...more,
  }
}

/** A camera that requires credentials with `challenge`, and checks them with `accepts`. */
function guarded(
  challenges: (count: number) => string,
  accepts: (field: string) => boolean,
): (request: SeenRequest) => Answer {
  let count = 0
  return (request) => {
    if (accepts(request.headers.get('authorization') ?? '')) return usualAnswer(request)
    count += 1
    return { status: 401, headers: { 'WWW-Authenticate': challenges(count) } }
  }
}

function portOf(server: net.Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function failure(session: RtspSession): Promise<RtspError> {
  const error = await session.play(never).catch((caught: unknown) => caught)
  if (!(error instanceof RtspError)) throw new Error('expected an RtspError', { cause: error })
  return error
}

test('a camera with SHA-256 and qop is played', async () => {
  await using camera = await startScriptedCamera(
    guarded(
      () => 'Digest realm="r", nonce="n1", qop="auth", algorithm=SHA-256',
      (field) => field.includes('algorithm=SHA-256'),
    ),
  )
  const session = new RtspSession(options(camera.port, { login: { name: 'u', password: 'p' } }), quiet)
  expect(await session.play(never)).toHaveLength(1)
  await session.close()
  expect(camera.requests.at(-1)).toMatchObject({ method: 'TEARDOWN' })
  expect(camera.requests.filter(({ method }) => method === 'OPTIONS')).toHaveLength(2)
})

test('a nonce that becomes stale in the middle is renewed, once', async () => {
  let nonce = 'n1'
  await using camera = await startScriptedCamera((request) => {
    const field = request.headers.get('authorization') ?? ''
    if (request.method === 'SETUP' && nonce === 'n1') nonce = 'n2'
    if (field.includes(`nonce="${nonce}"`)) return usualAnswer(request)
    return { status: 401, headers: { 'WWW-Authenticate': `Digest realm="r", nonce="${nonce}", stale=true` } }
  })
  const session = new RtspSession(options(camera.port, { login: { name: 'u', password: 'p' } }), quiet)
  expect(await session.play(never)).toHaveLength(1)
  await session.close()
})

test('wrong credentials are tried only once, even when each refusal brings a new nonce', async () => {
  await using camera = await startScriptedCamera(
    guarded(
      (count) => `Digest realm="r", nonce="n${count}"`,
      () => false,
    ),
  )
  const error = await failure(new RtspSession(options(camera.port, { login: { name: 'u', password: 'p' } }), quiet))
  expect(error.kind).toBe('auth')
  expect(camera.requests).toHaveLength(2)
})

test('missing credentials are an auth failure', async () => {
  await using camera = await startScriptedCamera(
    guarded(
      () => 'Basic realm="r"',
      () => false,
    ),
  )
  expect((await failure(new RtspSession(options(camera.port), quiet))).kind).toBe('auth')
  expect(camera.requests).toHaveLength(1)
})

test('credentials in the address are never sent as part of a URL', async () => {
  await using camera = await startScriptedCamera(
    guarded(
      () => 'Digest realm="r", nonce="n"',
      (field) => field !== '',
    ),
  )
  const address = parseDeviceAddress(`rtsp://name:topsecret@127.0.0.1:${camera.port}/cam`)
  const session = new RtspSession(
    options(camera.port, { address, login: { name: 'name', password: 'topsecret' } }),
    quiet,
  )
  await session.play(never)
  await session.close()
  for (const { text } of camera.requests) expect(text).not.toContain('topsecret')
})

test.each([
  [404, 'notFound'],
  [403, 'auth'],
  [500, 'rejected'],
] as const)('status %i is %s', async (status, kind) => {
  await using camera = await startScriptedCamera((request) =>
    request.method === 'DESCRIBE' ? { status } : usualAnswer(request),
  )
  expect(await failure(new RtspSession(options(camera.port), quiet))).toMatchObject({ kind, status })
})

test('a camera without tracks has no usable track', async () => {
  await using camera = await startScriptedCamera((request) =>
    request.method === 'DESCRIBE' ? { status: 200, body: 'v=0\r\nm=video 0 RTP/AVP 26\r\n' } : usualAnswer(request),
  )
  expect((await failure(new RtspSession(options(camera.port), quiet))).kind).toBe('noUsableTrack')
})

test('an HTTP server is not an RTSP server; a silent one times out; a closed port refuses', async () => {
  const http = createServer((_request, response) => response.end('<html>')).listen(0, '127.0.0.1')
  await once(http, 'listening')
  expect((await failure(new RtspSession(options(portOf(http)), quiet))).kind).toBe('protocol')
  http.close()
  await using silent = await startScriptedCamera(() => undefined)
  expect((await failure(new RtspSession(options(silent.port, { answerMs: 200 }), quiet))).kind).toBe('timeout')
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  expect((await failure(new RtspSession(options(address.port), quiet))).kind).toBe('refused')
  expect(
    (
      await failure(
        new RtspSession(options(554, { address: parseDeviceAddress('rtsp://no-such-host.invalid/') }), quiet),
      )
    ).kind,
  ).toBe('unreachable')
})

test('a camera that answers PLAY and sends nothing times out; one that closes the connection is closed', async () => {
  await using mute = await startScriptedCamera((request) =>
    request.method === 'PLAY' ? { status: 200 } : usualAnswer(request),
  )
  expect((await failure(new RtspSession(options(mute.port, { stallMs: 200 }), quiet))).kind).toBe('timeout')
  await using rude = await startScriptedCamera((request) => {
    if (request.method === 'SETUP') return { status: 200, after: (socket) => socket.destroy() }
    return usualAnswer(request)
  })
  expect((await failure(new RtspSession(options(rude.port), quiet))).kind).toBe('closed')
})

test('an abort ends the attempt at once with its own reason and closes the connection', async () => {
  const asked = Promise.withResolvers<void>()
  await using camera = await startScriptedCamera((request) => {
    if (request.method !== 'DESCRIBE') return usualAnswer(request)
    asked.resolve()
    return undefined
  })
  const abort = new AbortController()
  const playing = new RtspSession(options(camera.port), quiet).play(abort.signal)
  await asked.promise
  const [socket] = camera.sockets
  if (socket === undefined) throw new Error('no connection')
  const closed = once(socket, 'close')
  const reason = new Error('changed my mind')
  abort.abort(reason)
  await expect(playing).rejects.toBe(reason)
  await closed
})

test('a stream that stops is stalled, and reports it once', async () => {
  await using camera = await startScriptedCamera(usualAnswer)
  const ended = Promise.withResolvers<RtspError>()
  const session = new RtspSession(options(camera.port, { stallMs: 300 }), { ...quiet, ended: ended.resolve })
  await session.play(never)
  expect((await ended.promise).kind).toBe('stalled')
})

test('a picture that ends with an RTCP BYE has ended, even if its sound continues', async () => {
  const goodbye = Buffer.from([0x81, 203, 0, 1, 0, 0, 0x12, 0x34])
  await using camera = await HostileCamera.start({
    PLAY: (caller, request) => {
      caller.answer(request)
      caller.rtp()
      caller.rtcp(goodbye)
      caller.every(20, () => caller.write(interleaved(2, rtpPacket(1, Buffer.alloc(160), 8))))
    },
  })
  camera.description = `${h264Description}m=audio 0 RTP/AVP 8\r\na=control:track2\r\n`
  const ended = Promise.withResolvers<RtspError>()
  const session = new RtspSession(options(camera.port, { stallMs: 500 }), { ...quiet, ended: ended.resolve })
  await session.play(never)
  expect(await ended.promise).toMatchObject({ kind: 'closed', message: expect.stringContaining('BYE') })
})

test('a picture that ends without an RTCP BYE is stalled, even if its sound continues; an irregular one is not', async () => {
  let ends = false
  await using camera = await HostileCamera.start({
    PLAY: (caller, request) => {
      caller.answer(request)
      caller.rtp()
      caller.every(100, () => ends || caller.rtp())
      caller.every(20, () => caller.write(interleaved(2, rtpPacket(1, Buffer.alloc(160), 8))))
    },
  })
  camera.description = `${h264Description}m=audio 0 RTP/AVP 8\r\na=control:track2\r\n`
  const ended = Promise.withResolvers<RtspError>()
  const pictures = Promise.withResolvers<void>()
  let count = 0
  const session = new RtspSession(options(camera.port, { stallMs: 150 }), {
    ...quiet,
    rtp: ({ kind }) => {
      if (kind === 'video' && (count += 1) === 5) pictures.resolve()
    },
    ended: ended.resolve,
  })
  await session.play(never)
  await Promise.race([pictures.promise, ended.promise])
  expect(count).toBe(5)
  ends = true
  expect(await ended.promise).toMatchObject({ kind: 'stalled', message: expect.stringContaining('no picture') })
})

test('a camera without GET_PARAMETER is kept alive with OPTIONS; an expired session ends the stream', async () => {
  let keepAlives = 0
  await using camera = await startScriptedCamera((request) => {
    if (request.method === 'SETUP')
      return { status: 200, headers: { Session: '1;timeout=2', Transport: 'RTP/AVP/TCP;interleaved=0-1' } }
    if (request.method === 'GET_PARAMETER') return { status: 501 }
    if (request.method === 'OPTIONS' && request.headers.has('session')) {
      keepAlives += 1
      return keepAlives < 2 ? { status: 200, after: (socket) => socket.write(interleavedPacket(2)) } : { status: 454 }
    }
    return usualAnswer(request)
  })
  const ended = Promise.withResolvers<RtspError>()
  const session = new RtspSession(options(camera.port, { stallMs: 10_000 }), { ...quiet, ended: ended.resolve })
  await session.play(never)
  expect(await ended.promise).toMatchObject({ kind: 'closed', status: 454 })
})

test.each(['rtp', 'ended'] as const)(
  'a handler for %s that throws ends this session, and is logged in full',
  async (name) => {
    await using camera = await startScriptedCamera((request) =>
      request.method === 'PLAY'
        ? { status: 200, after: (socket) => void socket.write(interleavedPacket(1), () => socket.end()) }
        : usualAnswer(request),
    )
    const complaints: string[] = []
    const fail = (): void => {
      throw new TypeError('nobody foresaw this')
    }
    const session = new RtspSession(options(camera.port, { log: complaintLog(complaints) }), { ...quiet, [name]: fail })
    const error = await session.play(never).catch((caught: unknown) => caught)
    if (name === 'rtp') expect(error).toMatchObject({ kind: 'nodeFailed', cause: new TypeError('nobody foresaw this') })
    await expect.poll(() => camera.sockets.size).toBe(0)
    await expect.poll(() => complaints).toHaveLength(1)
    expect(complaints[0]).toContain('TypeError: nobody foresaw this\n    at ')
  },
)

test('a camera with invalid server ports is still played, and gets no reports', async () => {
  const reports = vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    await using camera = await HostileCamera.start(
      {
        SETUP: (caller, request) =>
          caller.setUp(request, { headers: { Transport: 'RTP/AVP;unicast;server_port=5000-0' } }),
      },
      'udp',
    )
    const session = new RtspSession(options(camera.port, { stallMs: 60_000 }), quiet)
    await session.play(never)
    reports.advanceTimersByTime(11_000)
    await session.close()
    await expect.poll(() => vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a flood of stray bytes after the answer to PLAY ends the session, and no timer is set after its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    for (const transport of ['tcp', 'udp'] as const) {
      await using camera = await HostileCamera.start(
        { PLAY: (caller, request) => caller.write(Buffer.concat([caller.message(request), Buffer.alloc(70_000, 1)])) },
        transport,
      )
      expect((await failure(new RtspSession(options(camera.port), quiet))).kind).toBe('protocol')
      expect(vi.getTimerCount()).toBe(0)
    }
  } finally {
    vi.useRealTimers()
  }
})

test.each([
  ['a port of its own', [], false],
  ['a port of this site', ['its own'], true],
] as const)('reports go to %s only where cameras may be called', async (_what, sitePorts, spared) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const trap = dgram.createSocket('udp4')
  const heard: string[] = []
  trap.on('message', (message) => heard.push(message.toString('latin1'))).bind(0, '127.0.0.1')
  await once(trap, 'listening')
  const { port } = trap.address()
  try {
    await using camera = await HostileCamera.start(
      {
        SETUP: (caller, request) =>
          caller.setUp(request, { headers: { Transport: `RTP/AVP;unicast;server_port=${port}-${port}` } }),
      },
      'udp',
    )
    const allowed = new AllowedAddresses({ networks: [], sitePorts: sitePorts.map(() => port), siteAddresses: [] })
    const session = new RtspSession(options(camera.port, { stallMs: 60_000, allowed }), quiet)
    await session.play(never)
    vi.advanceTimersByTime(5_500)
    // Earlier packets arrive before this one.
    trap.send('over', port, '127.0.0.1')
    await expect.poll(() => heard).toContain('over')
    await session.close()
    expect(heard.length > 1).toBe(!spared)
  } finally {
    trap.close()
    vi.useRealTimers()
  }
})
