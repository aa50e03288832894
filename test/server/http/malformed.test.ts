import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { shared } from '../../support/fixtures.ts'
import { type Bench, openBench, parseRaw, sendRaw } from '../../support/sites/api-site.ts'

const timeouts = { headersMs: 400, requestMs: 800, checkMs: 50, keepAliveMs: 5_000 }
const media = shared(() => openBench('media', { timeouts }))
const device = shared(() => openBench('device', { timeouts }))

const answerTo = async (bench: Bench, bytes: string | Buffer) => {
  const { status, headers, body } = parseRaw(await sendRaw(bench.port, bytes))
  expect(status).toBe(200)
  expect(headers.connection).toBe('close')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  return JSON.parse(body) as { ret: number; msg: string }
}

test('bytes that are not HTTP get a parameter error, and the connection closes', async () => {
  expect(await answerTo(media(), 'hello\r\n\r\n')).toEqual({ ret: 407, msg: 'This is not a well-formed HTTP request.' })
  expect((await answerTo(media(), Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]))).ret).toBe(407)
  expect(await answerTo(media(), 'GET /rtc/room/get HTTP/9.9\r\n\r\n')).toMatchObject({ ret: 407 })
  expect(await answerTo(device(), 'GET /a b HTTP/1.1\r\n\r\n')).toMatchObject({ ret: 401 })
  expect(media().seen.at(-1)).toMatchObject({ operation: '', ret: 407, client: '127.0.0.1' })
})

test('a NUL or control character in the target is a parameter error', async () => {
  expect((await answerTo(media(), 'GET /rtc/room/get?room_id=\x00 HTTP/1.1\r\n\r\n')).ret).toBe(407)
  expect((await answerTo(media(), 'GET /rtc/room/get?room_id=\x01 HTTP/1.1\r\n\r\n')).ret).toBe(407)
})

test('an unknown HTTP method is 408', async () => {
  expect((await answerTo(media(), 'FOO /rtc/room/get HTTP/1.1\r\n\r\n')).ret).toBe(408)
})

test('CONNECT is 408, or 401 on the device API', async () => {
  expect((await answerTo(media(), 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n')).ret).toBe(408)
  expect((await answerTo(device(), 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n')).ret).toBe(401)
})

test('a request without Host, and one that wants to upgrade, are answered like any other', async () => {
  const target = `/rtc/room/get?room_id=1&access_token=${media().token}`
  const bare = await sendRaw(media().port, `GET ${target} HTTP/1.1\r\nConnection: close\r\n\r\n`)
  expect(parseRaw(bare).body).toContain('"ret":0')
  const old = await sendRaw(media().port, `GET ${target} HTTP/1.0\r\n\r\n`)
  expect(parseRaw(old).body).toContain('"ret":0')
  const upgrade = 'Connection: upgrade\r\nUpgrade: websocket\r\nHost: t'
  expect(await sendRaw(media().port, `GET ${target} HTTP/1.1\r\n${upgrade}\r\n\r\n`, 1)).toContain('"ret":0')
})

test('an unknown expectation is ignored', async () => {
  const head = 'GET /none HTTP/1.1\r\nHost: t\r\nConnection: close\r\nExpect: miracles\r\n\r\n'
  expect(parseRaw(await sendRaw(media().port, head)).body).toContain('"ret":408')
})

test('headers that are too long are a parameter error', async () => {
  const head = `GET /rtc/room/get HTTP/1.1\r\nHost: t\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`
  expect(await answerTo(media(), head)).toEqual({ ret: 407, msg: 'The request target and headers are too long.' })
})

test('a target of megabytes is a parameter error', async () => {
  expect((await answerTo(media(), `GET /${'x'.repeat(2_000_000)} HTTP/1.1\r\n\r\n`)).ret).toBe(407)
})

test('slow headers time out', async () => {
  const socket = connect({ host: '127.0.0.1', port: media().port })
  socket.write('GET /rtc/room/get HTTP/1.1\r\n')
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 50)
  let text = ''
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
  clearInterval(drip)
  expect(JSON.parse(parseRaw(text).body)).toEqual({ ret: 407, msg: 'The request did not arrive in time.' })
})

test('a body that does not arrive times out', async () => {
  const head =
    'POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{'
  expect((await answerTo(device(), head)).ret).toBe(401)
})

test('an invalid chunked body is a parameter error', async () => {
  const head =
    'POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'
  expect((await answerTo(device(), head)).ret).toBe(401)
})

test('two lengths, or a length and chunks, are a parameter error: no request can be smuggled', async () => {
  const head = 'POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n'
  expect((await answerTo(device(), `${head}Content-Length: 5\r\n\r\nabcde`)).ret).toBe(401)
  expect((await answerTo(device(), `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).ret).toBe(401)
})

test('raw bytes in the target work with a body, too', async () => {
  const body = JSON.stringify({ accessToken: device().token, roomId: '1', userId: '2', userAddress: 'rtsp://h' })
  const target = '/avd/api/outgoing/createOutgoingUser?userName=门口'
  const head = `POST ${target} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  expect((await answerTo(device(), `${head}${body}`)).ret).toBe(0)
  expect(device().calls.at(-1)).toMatchObject({ userName: '门口' })
  expect((await answerTo(device(), `${head}${body.slice(0, 5)}`)).ret).toBe(401)
})

test('garbage after a request does not affect its answer', async () => {
  const answers = Promise.withResolvers<object>()
  media().behave(() => answers.promise)
  const target = `/rtc/room/get?room_id=1&access_token=${media().token}`
  const got = sendRaw(media().port, `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n\x01\x02garbage\r\n\r\n`)
  await expect.poll(() => media().calls.length).toBeGreaterThan(0)
  answers.resolve({ room_id: '1' })
  const text = await got
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1)
  expect(parseRaw(text).body).toBe('{"ret":0,"room_id":"1"}')
})

test('after all that the listener still answers', async () => {
  expect((await media().get('/rtc/room/get?room_id=1')).ret).toBe(602)
})
