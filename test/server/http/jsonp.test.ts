import { runInNewContext } from 'node:vm'
import { expect, test as base } from 'vitest'
import { openBench, rawGet } from '../../support/sites/api-site.ts'
import { disposed } from '../../support/fixtures.ts'

const test = base.extend('media', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await openBench('media')),
)

const target = (callback: string, more = '') => `/rtc/room/get?callback=${callback}&room_id=1${more}`
const accept = 'Accept: */*'

test('a script element gets a script that calls its function', async ({ media }) => {
  const { headers, body } = await rawGet(media.port, target('jQuery1_2', `&access_token=${media.token}`), [accept])
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(body.startsWith('/**/jQuery1_2({"ret":0,')).toBe(true)
  const got: unknown[] = []
  runInNewContext(body, { jQuery1_2: (answer: unknown) => got.push(answer) })
  expect(got).toMatchObject([{ ret: 0, topic: '早会' }])
})

test('a failure is a script, too', async ({ media }) => {
  const { body } = await rawGet(media.port, target('app.rooms.$got'), [accept])
  expect(body).toMatch(/^\/\*\*\/app\.rooms\.\$got\(\{"ret":602,"msg":"[^"]+"\}\);$/)
})

test('the failures of a malformed query and of an unknown path are scripts, too', async ({ media }) => {
  expect((await rawGet(media.port, target('f', '&x=%zz'), [accept])).body).toMatch(/^\/\*\*\/f\(\{"ret":407/)
  expect((await rawGet(media.port, '/none?callback=f', [accept])).body).toMatch(/^\/\*\*\/f\(\{"ret":408/)
})

test('a client without Accept gets plain JSON even with callback', async ({ media }) => {
  const { headers, body } = await rawGet(media.port, target('test', `&access_token=${media.token}`))
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(body)).toMatchObject({ ret: 0 })
})

test.for(['1a', 'a-b', 'a..b', '.a', 'a.', 'alert(1)', 'a%20b', '%3Cscript%3E', 'a%0a', '函数', 'x'.repeat(101)])(
  'callback %j is a parameter error in plain JSON',
  async (callback, { media }) => {
    for (const headers of [[accept], []]) {
      const answer = await rawGet(media.port, target(callback, `&access_token=${media.token}`), headers)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(JSON.parse(answer.body)).toMatchObject({ ret: 407 })
    }
  },
)

test('a callback of 100 characters is accepted', async ({ media }) => {
  const name = 'x'.repeat(100)
  const { body } = await rawGet(media.port, target(name, `&access_token=${media.token}`), [accept])
  expect(body.startsWith(`/**/${name}(`)).toBe(true)
})

test('line separators in an answer do not end the script of an old browser', async ({ media }) => {
  media.behave(() => ({ topic: 'a\u2028b\u2029c' }))
  const { body } = await rawGet(media.port, target('f', `&access_token=${media.token}`), [accept])
  expect(body).toBe('/**/f({"ret":0,"topic":"a\\u2028b\\u2029c"});')
})

test('the last of several callbacks counts: jQuery appends its own to that of the page', async ({ media }) => {
  const get = (query: string) => rawGet(media.port, `/rtc/room/get?${query}&access_token=${media.token}`, [accept])
  expect((await get('callback=test&room_id=1&callback=jQuery1_2')).body).toMatch(/^\/\*\*\/jQuery1_2\(\{"ret":0,/)
  expect((await get('callback=?&room_id=1&callback=jQuery1_2')).body).toMatch(/^\/\*\*\/jQuery1_2\(\{"ret":0,/)
  expect((await get('callback=a&callback=b&callback=c&room_id=1')).body).toMatch(/^\/\*\*\/c\(\{"ret":0,/)
  expect((await get('callback=test&room_id=1&callback=alert(1)')).body).toMatch(/^\{"ret":407,/)
})

test('an empty callback counts as missing, like every optional parameter', async ({ media }) => {
  const { headers, body } = await rawGet(media.port, target('', `&access_token=${media.token}`), [accept])
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(body)).toMatchObject({ ret: 0 })
})
