import { expect, test } from 'vitest'
import { openBench, parseRaw, sendRaw } from '../../support/sites/api-site.ts'
import { shared } from '../../support/fixtures.ts'

const media = shared(() => openBench('media'))
const target = shared(() => `/rtc/room/get?room_id=1&access_token=${encodeURIComponent(media().token)}`)

/** Answer to a request whose head ends with these lines. */
async function retOf(startLine: string, ...lines: readonly string[]): Promise<number> {
  const text = await sendRaw(media().port, [startLine, 'Host: t', 'Connection: close', ...lines, '', ''].join('\r\n'))
  return (JSON.parse(parseRaw(text).body) as { ret: number }).ret
}

test('a client behind an old proxy sends the whole URL as the target', async () => {
  expect(await retOf(`GET http://127.0.0.1:${media().port}${target()} HTTP/1.1`)).toBe(0)
  expect(media().calls.at(-1)).toEqual({ room_id: '1' })
})

test('a client of HTTP/1.0 keeps its connection for the next request', async () => {
  const request = `GET ${target()} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`
  const text = await sendRaw(media().port, request.repeat(2), 2)
  expect(text.match(/"ret":0/g)).toHaveLength(2)
})

test('a GET may announce a chunked body that is empty', async () => {
  const head = `GET ${target()} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
  expect(parseRaw(await sendRaw(media().port, `${head}0\r\n\r\n`)).body).toContain('"ret":0')
})

test('percent escapes may be in lower case, and header names in upper case', async () => {
  const lower = target()
    .replace(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase())
    .replace('room_id=1', 'room_id=%31')
  expect(await retOf(`GET ${lower} HTTP/1.1`, 'ACCEPT: */*', 'USER-AGENT: x')).toBe(0)
})

test('a slash behind the path is another path', async () => {
  expect(await retOf(`GET ${target().replace('get?', 'get/?')} HTTP/1.1`)).toBe(408)
})

test('text in GBK is a parameter error, and nothing is created', async () => {
  const created = media().calls.length
  const query = `room_mode=1&owner_id=me&topic=%B3%BF%BB%E1&access_token=${encodeURIComponent(media().token)}`
  expect(await retOf(`GET /rtc/room/create?${query} HTTP/1.1`)).toBe(407)
  expect(media().calls).toHaveLength(created)
})
