import { expect, test } from 'vitest'
import { openBench, parseRaw, sendRaw } from '../../support/sites/api-site.ts'
import { shared } from '../../support/fixtures.ts'

const media = shared(() => openBench('media'))
const device = shared(() => openBench('device'))

const path = '/avd/api/outgoing/createOutgoingUser'
const camera = { roomId: '1', userId: '2', userName: '门口 camera', userAddress: 'rtsp://10.0.0.9:554/h264' }
const json = { 'content-type': 'application/json' }

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json, query = '') =>
  device().get(`${path}${query}`, { method: 'POST', headers, body })
const postJson = (value: object) => post(JSON.stringify({ accessToken: device().token, ...value }))
const refused = (msg: string) => ({ ret: 401, msg })

test('parameters can be in the query, in a form or in JSON', async () => {
  const all = { accessToken: device().token, ...camera }
  const form = new URLSearchParams(all).toString()
  const echo = { ret: 0, data: { roomId: '1', userId: '2' } }
  expect(await device().get(`${path}?${form}`)).toEqual(echo)
  expect(await device().get(`${path}?${form}`, { method: 'POST' })).toEqual(echo)
  expect(await post(form, { 'content-type': 'application/x-www-form-urlencoded' })).toEqual(echo)
  expect(await post(form, { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset="UTF-8"' })).toEqual(echo)
  expect(await post(JSON.stringify(all))).toEqual(echo)
  expect(await post(JSON.stringify(all), { 'content-type': 'application/json; charset=utf-8' })).toEqual(echo)
  expect(device().calls.slice(-6)).toEqual(Array(6).fill(camera))
})

test('a byte order mark before JSON changes nothing', async () => {
  const answer = await post(`\uFEFF${JSON.stringify({ accessToken: device().token, ...camera })}`)
  expect(answer.ret).toBe(0)
  expect(device().calls.at(-1)).toEqual(camera)
})

test('parameters can be divided between query and body', async () => {
  const answer = await post(JSON.stringify(camera), json, `?accessToken=${encodeURIComponent(device().token)}`)
  expect(answer.ret).toBe(0)
})

test('the same name in both places is a parameter error', async () => {
  expect(await post(JSON.stringify({ ...camera, accessToken: device().token }), json, '?roomId=1')).toEqual(
    refused('roomId is given more than once.'),
  )
  const form = new URLSearchParams({ ...camera, accessToken: device().token }).toString()
  expect((await post(form, { 'content-type': 'application/x-www-form-urlencoded' }, '?roomId=1')).ret).toBe(401)
})

test('options is an object in JSON, or JSON text anywhere', async () => {
  const options = { login_name: 'admin', login_password: 'x' }
  await postJson({ ...camera, options })
  expect(device().calls.at(-1)).toMatchObject({ options })
  await postJson({ ...camera, options: JSON.stringify(options) })
  expect(device().calls.at(-1)).toMatchObject({ options: JSON.stringify(options) })
  expect(await postJson({ ...camera, options: ['a'] })).toEqual(refused('options is of the wrong type.'))
})

test('an id can be a number in JSON', async () => {
  expect(await postJson({ ...camera, roomId: 782_729_450, userId: 0 })).toEqual({
    ret: 0,
    data: { roomId: '782729450', userId: '0' },
  })
  expect(device().calls.at(-1)).toMatchObject({ roomId: '782729450', userId: '0' })
})

test.each([-1, 1.5, 1e21, Number.MAX_SAFE_INTEGER + 1])(
  'the number %s, which is no exact id, is a parameter error',
  async (roomId) => {
    expect(await postJson({ ...camera, roomId })).toEqual(refused('roomId must be text.'))
  },
)

test('a JSON value of another type than the parameter is a parameter error', async () => {
  expect(await postJson({ ...camera, roomId: true })).toEqual(refused('roomId must be text.'))
  expect(await postJson({ ...camera, userName: null })).toEqual(refused('userName must be text.'))
  expect((await postJson({ ...camera, accessToken: 5 })).ret).toBe(401)
})

test.each([
  ['not JSON', '{"roomId":', 'The body is not valid JSON in UTF-8.'],
  ['a list', '[]', 'The body must be a JSON object.'],
  ['null', 'null', 'The body must be a JSON object.'],
  ['a text', '"a"', 'The body must be a JSON object.'],
  ['a key twice', '{"roomId":"1","roomId":"2"}', 'A parameter of the JSON body is given more than once.'],
  ['a NUL', '{"roomId":"a\\u0000"}', 'roomId is malformed or holds a control character.'],
  ['a lone surrogate', '{"roomId":"\\ud800"}', 'roomId is malformed or holds a control character.'],
  [
    'a lone surrogate deep inside',
    '{"options":{"a":[{"b":"\\udc00"}]}}',
    'options is malformed or holds a control character.',
  ],
  [
    'a bottomless value',
    `{"options":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    'options is malformed or holds a control character.',
  ],
])('a JSON body with %s is a parameter error', async (_what, body, msg) => {
  expect(await post(body)).toEqual(refused(msg))
})

test('keys inside options, and text that looks like keys, are not repeated parameters', async () => {
  const answer = await postJson({ ...camera, userName: '"a":{"b":[1', options: { roomId: 'x', a: { userId: 'y' } } })
  expect(answer.ret).toBe(0)
})

test('__proto__ in a JSON body changes nothing', async () => {
  const body = `{"__proto__":{"roomId":"9"},"accessToken":"${device().token}"}`
  expect(await post(body)).toEqual(refused('roomId is missing.'))
})

test('bytes that are not UTF-8 are a parameter error', async () => {
  const bytes = new Uint8Array([...Buffer.from('{"roomId":"'), 0xff, ...Buffer.from('"}')])
  expect(await post(bytes)).toEqual(refused('The body is not valid JSON in UTF-8.'))
})

test('another charset, type or encoding of the body is a parameter error', async () => {
  expect(await post('{}', { 'content-type': 'application/json; charset=gbk' })).toEqual(
    refused('The charset of the body must be UTF-8.'),
  )
  const types = refused('Content-Type must be application/x-www-form-urlencoded or application/json.')
  expect(await post('{}', { 'content-type': 'text/plain' })).toEqual(types)
  expect(await post('{}', { 'content-type': 'multipart/form-data; boundary=x' })).toEqual(types)
  expect(await post('{}', { ...json, 'content-encoding': 'gzip' })).toEqual(
    refused('Content-Encoding is not supported: send the body as it is.'),
  )
})

test('a body of 64 KiB passes', async () => {
  const body = JSON.stringify({ accessToken: device().token, ...camera })
  const room = 64 * 1024 - Buffer.byteLength(body)
  expect((await post(body + ' '.repeat(room))).ret).toBe(0)
})

test('a longer body is a parameter error that closes the connection, and its sender reads the answer', async () => {
  const head = `POST ${path} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n`
  const body = ' '.repeat(3 * 1024 * 1024)
  for (const request of [
    `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ]) {
    const answer = parseRaw(await sendRaw(device().port, request))
    expect(answer.status).toBe(200)
    expect(answer.headers.connection).toBe('close')
    expect(JSON.parse(answer.body)).toEqual(refused('The request body is longer than 65536 bytes.'))
  }
})

test('a longer body that is only announced is refused without waiting', async () => {
  const head = `POST ${path} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`
  expect(JSON.parse(parseRaw(await sendRaw(device().port, head)).body)).toMatchObject({ ret: 401 })
})

test('a client with Expect: 100-continue gets 100 Continue', async () => {
  const body = JSON.stringify({ accessToken: device().token, ...camera })
  const head = `POST ${path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 4}\r\n\r\n`
  const text = await sendRaw(device().port, `${head}${body}`)
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue/)
  expect(text).toContain('"ret":0')
})

test('a body of a media request is ignored', async () => {
  const head = `GET /rtc/room/get?room_id=1&access_token=${encodeURIComponent(media().token)} HTTP/1.1\r\nHost: t\r\n`
  const once = `${head}Content-Length: 14\r\n\r\n{"room_id":"2"`
  const text = await sendRaw(media().port, `${once}${once}`, 2)
  expect(text.match(/"ret":0/g)).toHaveLength(2)
  expect(media().calls.at(-1)).toEqual({ room_id: '1' })
})

test('a body on an unknown path is not awaited', async () => {
  const text = await sendRaw(media().port, 'POST /none HTTP/1.1\r\nHost: t\r\nContent-Length: 5000000\r\n\r\nabc')
  expect(JSON.parse(parseRaw(text).body)).toMatchObject({ ret: 408 })
})
