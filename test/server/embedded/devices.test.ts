import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { startCamera } from '../../support/camera/camera.ts'
import { cameraCertificate } from '../../support/camera/camera-certificate.ts'
import { h264Description, startScriptedCamera, usualAnswer } from '../../support/camera/scripted-camera.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const aacOnly = h264Description
  .replace('m=video 0 RTP/AVP 96', 'm=audio 0 RTP/AVP 96')
  .replace('H264/90000', 'mpeg4-generic/48000/1')
  .replace(/a=fmtp:.*/, 'a=fmtp:96 mode=AAC-hbr;config=1188')

const origin = { transport: 'internal', client: '', role: 'admin' } as const

describe('a real device', () => {
  const camera = shared(() => startCamera())
  const site = shared(() => MediaSite.start({ settings: { media: { camera_stall_ms: 1_000, transcoders: 0 } } }))
  const room = shared(() => site().api.createRoom())
  afterEach(async () => {
    const left = (await site().rpc('devices.list', {})).map(({ userId }) => userId)
    if (left.length > 0) await site().rpc('devices.remove', { userIds: left })
  })

  /** Calls a join that must fail and leave nothing behind. Resolves to its answer. */
  async function refusal(address: string, options: Record<string, string> = {}) {
    const answer = await site().join(room(), 'failing', address, options)
    expect(await site().users(room())).not.toContain('failing')
    expect((await site().rpc('devices.list', {})).map(({ userId }) => userId)).not.toContain('failing')
    return answer
  }

  test('joins: ret 0 means that its picture is in the room; destroyed, it is gone and no longer pulled', async () => {
    expect(await site().join(room(), 'door', camera().url('/cam'))).toEqual({
      ret: 0,
      data: { roomId: room(), userId: 'door' },
    })
    const { streams } = await site().rpc('media.stats', { room_id: room() })
    expect(streams).toMatchObject([{ stream_id: 'door', user_id: 'door', video_codec: 'H264', audio_codec: 'PCMU' }])
    expect(streams[0]?.last_packet_at).toBeGreaterThan(0)
    expect(await site().users(room())).toEqual(['door'])
    expect(await site().device('door')).toMatchObject({ state: 'joined', last_error: null })
    expect(await site().api.get('/rtc/room/get', { room_id: room() })).toMatchObject({ room_status: 1 })
    const params = { roomId: room(), userId: 'door', userAddress: camera().url('/cam') }
    expect(await site().api.outgoing('destroyOutgoingUser', params)).toMatchObject({ ret: 0 })
    expect(await site().users(room())).toEqual([])
    await site().until(async () => (await site().rpc('nodes.list', {}))[0]?.pulls === 0)
  })

  test('joins with H.265: browsers that support it show it', async () => {
    expect(await site().join(room(), 'h265', camera().url('/h265'))).toMatchObject({ ret: 0 })
    const { streams } = await site().rpc('media.stats', { room_id: room() })
    expect(streams).toMatchObject([{ video_codec: 'H265' }])
    await site().rpc('devices.remove', { userIds: ['h265'] })
  })

  test('is pulled once when it is in two rooms, or twice in one', async () => {
    const other = await site().api.createRoom()
    for (const [roomId, userId] of [
      [room(), 'one'],
      [room(), 'two'],
      [other, 'three'],
    ] as const) {
      expect(await site().join(roomId, userId, camera().url('/cam'))).toMatchObject({ ret: 0 })
    }
    expect(await site().users(room())).toEqual(['one', 'two'])
    expect(await site().users(other)).toEqual(['three'])
    await site().until(async () => (await site().rpc('nodes.list', {}))[0]?.pulls === 1)
    await site().rpc('devices.remove', { userIds: ['one', 'two', 'three'] })
  })

  test('has the wrong path: 426, and why', async () => {
    expect(await refusal(camera().url('/nothing'))).toEqual({ ret: 426, msg: expect.stringContaining('path') })
  })

  test('sends only Motion JPEG or AAC: 426, no supported media', async () => {
    const said = { ret: 426, msg: expect.stringContaining('H.264') }
    expect(await refusal(camera().url('/jpeg'))).toEqual(said)
    await using aac = await startScriptedCamera((request) =>
      request.method === 'DESCRIBE'
        ? { status: 200, headers: { 'Content-Type': 'application/sdp' }, body: aacOnly }
        : usualAnswer(request),
    )
    expect(await refusal(`rtsp://127.0.0.1:${aac.port}/live`)).toEqual(said)
  })

  test('has a closed port: 426 refused; an unknown host: 426 unreachable', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    server.close()
    expect(await refusal(`rtsp://127.0.0.1:${port}/cam`)).toEqual({ ret: 426, msg: expect.stringContaining('port') })
    expect(await refusal('rtsp://no-such-camera.invalid/cam')).toEqual({
      ret: 426,
      msg: expect.stringContaining('reached'),
    })
  })

  test('is not a camera: 426, not RTSP; it closes the connection: 426, closed', async () => {
    const web = net.createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'))
    web.listen(0, '127.0.0.1')
    await once(web, 'listening')
    const { port } = web.address() as net.AddressInfo
    expect(await refusal(`rtsp://127.0.0.1:${port}/cam`)).toEqual({ ret: 426, msg: expect.stringContaining('RTSP') })
    web.close()
    await using rude = await startScriptedCamera(({ method }) =>
      method === 'DESCRIBE' ? undefined : { status: 200, after: (socket) => method === 'OPTIONS' && socket.destroy() },
    )
    expect(await refusal(`rtsp://127.0.0.1:${rude.port}/cam`)).toEqual({
      ret: 426,
      msg: expect.stringContaining('closed'),
    })
  })

  test.each([
    ['never answers', () => undefined],
    [
      'plays without ever sending a picture',
      (request: Parameters<typeof usualAnswer>[0]) =>
        request.method === 'PLAY' ? { status: 200 } : usualAnswer(request),
    ],
  ])('a camera that %s: 427 before clients give up', async (_, answer) => {
    await using silent = await startScriptedCamera(answer)
    const began = performance.now()
    const refused = await refusal(`rtsp://127.0.0.1:${silent.port}/cam`)
    expect(refused).toEqual({ ret: 427, msg: 'The device did not answer in time.' })
    expect(performance.now() - began).toBeLessThan(5_000)
    await site().until(() => silent.sockets.size === 0)
  })

  test.each(['basic', 'digest'] as const)(
    'credentials of any characters are accepted (%s), wrong ones are 426 without details',
    async (auth) => {
      const password = '密码@:/?#% "\\'
      await using locked = await startCamera({ auth, password })
      const url = locked.url('/cam')
      const login = { login_name: 'admin', login_password: password }
      for (const wrong of [{}, { ...login, login_password: 'wrong one' }]) {
        const answer = await refusal(url, wrong)
        expect(answer).toEqual({ ret: 426, msg: expect.stringContaining('login') })
        expect(JSON.stringify(answer)).not.toContain('wrong one')
      }
      expect(await site().join(room(), 'locked', url, login)).toMatchObject({ ret: 0 })
      const address = url.replace('://', `://admin:${encodeURIComponent(password)}@`)
      expect(await site().join(room(), 'by-address', address)).toMatchObject({ ret: 0 })
      const list = await site().api.outgoing('getOutgoingUsers', { roomId: room() })
      expect(JSON.stringify(list)).not.toContain('密码')
      expect(site().logged.join('')).not.toContain('密码')
      await site().rpc('devices.remove', { userIds: ['locked', 'by-address'] })
    },
  )

  test('a stored password is sent only to the address that it was stored for: not after a change, in a probe or from a table', async () => {
    const password = 'stays with its camera'
    const login = { login_name: 'admin', login_password: password }
    await using locked = await startCamera({ auth: 'basic', password })
    expect(await site().join(room(), 'guarded', locked.url('/cam'), login)).toMatchObject({ ret: 0 })
    // A stranger's machine that asks everybody for Basic credentials.
    await using other = await startScriptedCamera(() => ({
      status: 401,
      headers: { 'WWW-Authenticate': 'Basic realm="camera"' },
    }))
    const heard = (): string => other.requests.map(({ text }) => text).join('')
    const call = async (name: 'devices.update' | 'devices.probe', input: Record<string, string>) =>
      await site().controller.dispatch(name, { userId: 'guarded', ...input }, origin)
    const otherAddress = `rtsp://127.0.0.1:${other.port}/cam`
    const problems = [{ path: 'login_password', message: expect.stringContaining('give the password again') }]
    const refused = { ok: false, error: { code: 'invalid', problems } }
    for (const login_password of [{}, { login_password: '******' }]) {
      expect(await call('devices.update', { userAddress: otherAddress, ...login_password })).toMatchObject(refused)
      expect(await call('devices.update', { assist_address: otherAddress, ...login_password })).toMatchObject(refused)
      expect(await call('devices.probe', { userAddress: otherAddress, ...login_password })).toMatchObject(refused)
    }
    const line = `roomId,userId,userName,userAddress\n${room()},guarded,Guarded,${otherAddress}`
    expect(await site().rpc('devices.import', { text: line })).toMatchObject([
      { action: 'error', message: expect.stringContaining('give the password again') },
    ])
    expect(await site().device('guarded')).toMatchObject({ userAddress: locked.url('/cam'), state: 'joined' })
    expect(heard()).toBe('')

    // It stays valid at its own host, and a new password allows any address.
    expect(await call('devices.probe', { userAddress: locked.url('/aac') })).toMatchObject({ value: { ok: true } })
    expect(await call('devices.update', { assist_address: locked.url('/small') })).toMatchObject({ ok: true })
    const moved = { userAddress: otherAddress, assist_address: '', login_password: 'new' }
    expect(await call('devices.update', moved)).toMatchObject({ ok: true })
    await site().until(() => heard().includes(btoa('admin:new')))
    expect(heard()).not.toContain(btoa(`admin:${password}`))
    await site().rpc('devices.remove', { userIds: ['guarded'] })
  })

  test('uses RTSPS with a self-signed certificate: 426 says so, until a setting trusts it; that applies at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'camera-tls-'))
    await using secure = await startCamera({ tls: await cameraCertificate(folder), auth: 'digest' })
    const login = { login_name: 'admin', login_password: 'se:cret' }
    expect(await refusal(secure.url('/cam'), login)).toEqual({
      ret: 426,
      msg: expect.stringContaining('certificate'),
    })
    await site().rpc('settings.set', { media: { trust_any_certificate: true } })
    expect(await site().join(room(), 'secure', secure.url('/cam'), login)).toMatchObject({ ret: 0 })
    await site().rpc('devices.remove', { userIds: ['secure'] })
    await site().rpc('settings.set', { media: { trust_any_certificate: false } })
    await rm(folder, { recursive: true })
  })

  test('cannot join a full or a locked room: 426 says which', async () => {
    const small = await site().api.createRoom({ attendee_max: 1 })
    expect(await site().join(small, 'first', camera().url('/cam'))).toMatchObject({ ret: 0 })
    expect(await site().join(small, 'second', camera().url('/cam'))).toEqual({ ret: 426, msg: 'The room is full.' })
    await site().rpc('devices.remove', { userIds: ['first'] })
    await site().rpc('rooms.lock', { room_ids: [small] })
    expect(await site().join(small, 'third', camera().url('/cam'))).toEqual({ ret: 426, msg: 'The room is locked.' })
  })

  test('that fails leaves the room with a notice, and returns as soon as it is available', async () => {
    const mortal = await startCamera()
    expect(await site().join(room(), 'mortal', mortal.url('/cam'))).toMatchObject({ ret: 0 })
    await mortal.kill()
    await site().until(async () => (await site().device('mortal')).state === 'waiting')
    expect(['closed', 'refused']).toContain((await site().device('mortal')).last_error?.kind)
    expect(await site().users(room())).toEqual([])
    await using back = await startCamera({ port: mortal.port })
    await site().until(async () => (await site().device('mortal')).state === 'joined')
    expect(await site().users(room())).toEqual(['mortal'])
    expect(await site().device('mortal')).toMatchObject({ retries: 0, last_error: null })
    expect(back.port).toBe(mortal.port)
    await site().rpc('devices.remove', { userIds: ['mortal'] })
  })

  test('that hangs counts as stalled, and rejoins when it resumes', async () => {
    await using sleepy = await startCamera()
    expect(await site().join(room(), 'sleepy', sleepy.url('/cam'))).toMatchObject({ ret: 0 })
    sleepy.signal('SIGSTOP')
    await site().until(async () => (await site().device('sleepy')).last_error?.kind === 'stalled')
    expect(await site().users(room())).toEqual([])
    sleepy.signal('SIGCONT')
    await site().until(async () => (await site().device('sleepy')).state === 'joined')
    await site().rpc('devices.remove', { userIds: ['sleepy'] })
  })

  test('that is paused stays out of the room until it is resumed; a closed room holds it until it is reopened', async () => {
    const other = await site().api.createRoom()
    expect(await site().join(other, 'porch', camera().url('/cam'))).toMatchObject({ ret: 0 })
    await site().rpc('devices.pause', { userIds: ['porch'] })
    await site().until(async () => (await site().users(other)).length === 0)
    expect((await site().device('porch')).state).toBe('paused')
    await site().rpc('devices.resume', { userIds: ['porch'] })
    await site().until(async () => (await site().device('porch')).state === 'joined')
    await site().rpc('rooms.close', { room_ids: [other] })
    expect(await site().device('porch')).toMatchObject({ state: 'waiting', last_error: { kind: 'roomLocked' } })
    expect(await site().join(other, 'late', camera().url('/cam'))).toMatchObject({ ret: 424 })
    await site().rpc('rooms.reopen', { room_ids: [other] })
    await site().until(async () => (await site().users(other)).includes('porch'))
  })

  test('a probe reports codecs and size, or the problem, as a code for the console and a sentence for people', async () => {
    expect(await site().rpc('devices.probe', { userAddress: camera().url('/aac') })).toMatchObject({
      ok: true,
      kind: null,
      simulated: false,
      tracks: [
        { kind: 'video', codec: 'H264', carried: true, detail: expect.stringContaining('640 × 360') },
        { kind: 'audio', carried: false },
      ],
    })
    // Substream names used by many cameras.
    expect(await site().rpc('devices.probe', { userAddress: camera().url('/stream1') })).toMatchObject({
      ok: true,
      tracks: [{ kind: 'video', width: 640, height: 360 }],
      second: { address: camera().url('/stream2'), width: 160, height: 90 },
    })
    expect(await site().rpc('devices.probe', { userAddress: camera().url('/stream2') })).toMatchObject({ second: null })
    const known = { userAddress: camera().url('/stream1'), assist_address: camera().url('/small') }
    expect(await site().rpc('devices.probe', known)).toMatchObject({ ok: true, second: null })
    expect(await site().rpc('devices.probe', { userAddress: camera().url('/nothing') })).toMatchObject({
      ok: false,
      kind: 'notFound',
      message: expect.stringContaining('path'),
    })
  })
})
