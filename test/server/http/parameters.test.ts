import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readParameters } from '../../../server/http/parameters.ts'
import { openBench, parseRaw, rawGet, sendRaw } from '../../support/sites/api-site.ts'
import { shared } from '../../support/fixtures.ts'

const media = shared(() => openBench('media'))

/** Creates a room with this raw query and returns the answer. */
const create = async (query: string) => {
  const required = `access_token=${media().token}&owner_id=anna&room_mode=1`
  return JSON.parse((await rawGet(media().port, `/rtc/room/create?${required}&${query}`)).body) as {
    ret: number
    msg?: string
  }
}
const lastTopic = () => (media().calls.at(-1) as { topic: string }).topic

test('percent-encoded UTF-8 is decoded', async () => {
  expect((await create(`topic=${encodeURIComponent('早会 & more + 50%')}`)).ret).toBe(0)
  expect(lastTopic()).toBe('早会 & more + 50%')
})

test('a plus is a space', async () => {
  await create('topic=a+b')
  expect(lastTopic()).toBe('a b')
})

test('raw UTF-8 bytes in the target are accepted, as curl sends them', async () => {
  const target = `/rtc/room/create?access_token=${media().token}&owner_id=anna&room_mode=1&topic=早会`
  const answer = parseRaw(await sendRaw(media().port, `GET ${target} HTTP/1.1\r\nHost: test\r\n\r\n`))
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.body)).toMatchObject({ ret: 0 })
  expect(answer.headers.connection).toBe('close')
  expect(lastTopic()).toBe('早会')
})

test('raw bytes that are not UTF-8 are a parameter error', async () => {
  const head = `GET /rtc/room/create?access_token=${media().token}&owner_id=anna&room_mode=1&topic=`
  const gbk = Buffer.concat([
    Buffer.from(head),
    Buffer.from([0xd4, 0xe7, 0xbb, 0xe1]),
    Buffer.from(' HTTP/1.1\r\nHost: test\r\n\r\n'),
  ])
  expect(JSON.parse(parseRaw(await sendRaw(media().port, gbk)).body)).toEqual({
    ret: 407,
    msg: 'topic is malformed: percent-encode it as UTF-8.',
  })
})

test('a broken percent-escape is a parameter error', async () => {
  for (const value of ['%', '%4', '%zz', 'a%', '%u4e00', '%%41']) {
    expect(await create(`topic=${value}`)).toEqual({ ret: 407, msg: 'topic is malformed: percent-encode it as UTF-8.' })
  }
})

test('bytes that are not UTF-8 are a parameter error', async () => {
  for (const value of ['%ff', '%c0%80', '%e4%bc', '%f5%80%80%80'])
    expect((await create(`topic=${value}`)).ret).toBe(407)
})

test('a lone surrogate is a parameter error', async () => {
  expect((await create('topic=%ED%A0%80')).ret).toBe(407)
})

test('NUL and every other control character is a parameter error', async () => {
  for (const value of ['%00', 'a%00b', '%09', '%0d%0a', '%1b', '%7f', '%c2%85']) {
    expect(await create(`topic=${value}`)).toEqual({ ret: 407, msg: 'topic holds a control character.' })
  }
})

test('a repeated parameter is a parameter error, even if escaped or unknown', async () => {
  expect(await create('topic=a&topic=a')).toEqual({ ret: 407, msg: 'topic is given more than once.' })
  expect((await create('topic=a&%74opic=b')).ret).toBe(407)
  expect((await create('topic=a&x=1&x=2')).ret).toBe(407)
})

test('an invalid name is not repeated in the message', async () => {
  const { msg } = await create(`topic=a&${'y'.repeat(60)}=1&${'y'.repeat(60)}=2`)
  expect(msg).toBe('A parameter is given more than once.')
})

test('__proto__, constructor and the like are ordinary parameters', async () => {
  expect((await create('topic=a&__proto__=1&constructor=2&toString=3&__proto__[ret]=4')).ret).toBe(0)
  expect((await create('topic=a&__proto__=1&__proto__=2')).ret).toBe(407)
  expect(Object.keys(media().calls.at(-1) as object)).toEqual(['topic', 'owner_id', 'room_mode'])
})

test('unknown parameters are ignored', async () => {
  expect((await create('topic=a&start_time=1&end_time=2&room_type=&_=123&=x&&flag')).ret).toBe(0)
})

test('an absolute target works like a relative one', async () => {
  const { body } = await rawGet(media().port, `http://test:7080/rtc/room/get?room_id=1&access_token=${media().token}`)
  expect(JSON.parse(body)).toMatchObject({ ret: 0 })
})

test('a target of 8 KiB passes, a longer one is a parameter error and closes the connection', async () => {
  const base = `/rtc/room/get?room_id=1&access_token=${media().token}&x=`
  const fits = await sendRaw(media().port, `GET ${base.padEnd(8192, 'x')} HTTP/1.1\r\nHost: t\r\n\r\n`, 1)
  expect(JSON.parse(parseRaw(fits).body)).toMatchObject({ ret: 0 })
  expect(parseRaw(fits).headers.connection).not.toBe('close')
  const long = parseRaw(await sendRaw(media().port, `GET ${base.padEnd(8193, 'x')} HTTP/1.1\r\nHost: t\r\n\r\n`))
  expect(long.status).toBe(200)
  expect(long.headers.connection).toBe('close')
  expect(JSON.parse(long.body)).toEqual({ ret: 407, msg: 'The request target is longer than 8192 bytes.' })
})

test('property: the output of a form encoder reads back', () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .map((value) => value.toWellFormed().replace(/\p{Cc}/gu, ''))
  fc.assert(
    fc.property(fc.dictionary(text, text, { maxKeys: 5 }), (wanted) => {
      const pairs = Object.entries(wanted)
      const { parameters, problem } = readParameters(new URLSearchParams(pairs).toString())
      expect(problem).toBeUndefined()
      expect([...parameters]).toEqual(pairs)
    }),
  )
})

test('property: raw UTF-8 reads like its escapes', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed() && !/[\p{Cc}&=%+#]/u.test(value))
  fc.assert(
    fc.property(text, (value) => {
      const raw = Buffer.from(`name=${value}`).toString('latin1')
      expect(readParameters(raw)).toEqual(readParameters(`name=${encodeURIComponent(value)}`))
    }),
  )
})

test('property: no bytes make the parser throw, and no accepted value contains a control character', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { parameters } = readParameters(Buffer.from(bytes).toString('latin1'))
      return [...parameters.values()].every((value) => !/\p{Cc}/u.test(String(value)))
    }),
    { numRuns: 500 },
  )
})
