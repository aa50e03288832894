import { expect, test as base } from 'vitest'
import { unproven } from '../../../server/gate/gate.ts'
import type { Context, Next } from 'koa'
import { notStored } from '../../../server/store/storage.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { openBench, rawGet } from '../../support/sites/api-site.ts'
import { disposed } from '../../support/fixtures.ts'

const test = base
  .extend('media', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await openBench('media')))
  .extend('device', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await openBench('device')))

const list = '/avd/api/outgoing/getOutgoingUsers'

test('a success is HTTP 200 with ret 0 and exactly the fields of the specification', async ({ media }) => {
  const response = await fetch(`${media.url}/rtc/room/get?access_token=${media.token}&room_id=123456789`)
  expect(response.status).toBe(200)
  expect(Object.keys((await response.json()) as object)).toEqual(
    'ret id room_id topic room_status owner_id host_password attendee_max max_audio max_video room_extend_id room_mode'.split(
      ' ',
    ),
  )
})

test('an answer has its type and length, and is not cached', async ({ media }) => {
  const { headers, body } = await rawGet(media.port, `/rtc/room/get?access_token=${media.token}&room_id=1`)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['cache-control']).toBe('no-store')
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body))
})

test('a failure is HTTP 200 with ret and one plain sentence', async ({ media }) => {
  const { status, body } = await rawGet(media.port, `/rtc/room/del?access_token=${media.token}&room_id=1`)
  expect(status).toBe(200)
  expect(JSON.parse(body)).toEqual({ ret: 404, msg: 'There is no such room.' })
})

test('an unknown path is 408 on the media API', async ({ media }) => {
  expect(await media.get('/rtc/room/nothing')).toEqual({
    ret: 408,
    msg: 'There is no /rtc/room/nothing on the media API.',
  })
  expect((await media.get('/rtc/room/get/')).ret).toBe(408)
  expect((await media.get('/RTC/room/get')).ret).toBe(408)
})

test('an unknown method is 408 on the media API', async ({ media }) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const answer = await media.get('/rtc/room/get?room_id=1', { method })
    expect(answer).toEqual({ ret: 408, msg: `${method} is not supported for /rtc/room/get: use GET.` })
  }
})

test('HEAD is answered like any other unknown method', async ({ media }) => {
  const response = await fetch(`${media.url}/rtc/room/get`, { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(media.seen.at(-1)).toMatchObject({ method: 'HEAD', ret: 408 })
})

test('on the device API an unknown path or method is 401 and the message names it', async ({ device }) => {
  expect(await device.get('/avd/api/nothing')).toEqual({
    ret: 401,
    msg: 'There is no /avd/api/nothing on the device API.',
  })
  expect(await device.get(list, { method: 'PUT' })).toEqual({
    ret: 401,
    msg: `PUT is not supported for ${list}: use GET or POST.`,
  })
})

test('the path in an answer never contains raw bytes of the request', async ({ media }) => {
  const answer = await media.get(`/${encodeURIComponent('<script>\n')}${'x'.repeat(300)}`)
  expect(String(answer.msg).length).toBeLessThan(200)
})

test('any origin may call by default, without credentials', async ({ media }) => {
  const { headers } = await rawGet(media.port, '/rtc/room/get', ['Origin: https://a.example'])
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['access-control-allow-credentials']).toBeUndefined()
})

test('a setting restricts the origins, at once', async ({ media }) => {
  media.settings.cors_origins = ['https://a.example']
  const ours = await rawGet(media.port, '/rtc/room/get', ['Origin: https://a.example'])
  const theirs = await rawGet(media.port, '/rtc/room/get', ['Origin: https://b.example'])
  media.settings.cors_origins = ['*']
  expect(ours.headers).toMatchObject({ 'access-control-allow-origin': 'https://a.example', vary: 'Origin' })
  expect(theirs.headers['access-control-allow-origin']).toBeUndefined()
  expect(theirs.headers.vary).toBe('Origin')
})

test('a preflight is answered 200 with the allowed methods and headers', async ({ device }) => {
  const response = await fetch(`${device.url}${list}`, {
    method: 'OPTIONS',
    headers: { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST')
  expect(response.headers.get('access-control-allow-headers')).toBe('*, Authorization, Content-Type')
  expect(await response.json()).toEqual({ ret: 0 })
})

test('the token is checked after the parameters', async ({ media }) => {
  expect((await media.get('/rtc/room/get?access_token=wrong')).ret).toBe(407)
  expect((await media.get('/rtc/room/get?access_token=wrong&room_id=1')).ret).toBe(602)
})

test('a missing token is 602 on the media API and 401 on the device API', async ({ media, device }) => {
  expect((await media.get('/rtc/room/get?room_id=1')).ret).toBe(602)
  expect((await device.get(list)).ret).toBe(401)
})

test('the token is accepted under the misspelt name that clients use', async ({ media }) => {
  expect((await media.get(`/rtc/room/get?access_tocken=${media.token}&room_id=1`)).ret).toBe(0)
})

test('only get_mcu also accepts it as token', async ({ media }) => {
  expect((await media.get(`/sdk/get_mcu?token=${media.token}&room_id=1`)).ret).toBe(0)
  expect((await media.get(`/rtc/room/get?token=${media.token}&room_id=1`)).ret).toBe(602)
})

test('the device API accepts the token under three names on every operation', async ({ device }) => {
  for (const name of ['accessToken', 'access_token', 'access_tocken']) {
    expect((await device.get(`${list}?${name}=${device.token}`)).ret).toBe(0)
  }
})

test('names are case-sensitive', async ({ media }) => {
  expect((await media.get(`/rtc/room/get?Access_Token=${media.token}&room_id=1`)).ret).toBe(602)
  expect((await media.get(`/rtc/room/get?access_token=${media.token}&Room_id=1`)).ret).toBe(407)
})

test('an invalid parameter is named, and its value is not repeated', async ({ media }) => {
  const base = `/rtc/room/create?access_token=${media.token}&owner_id=anna`
  expect(await media.get(base)).toEqual({ ret: 407, msg: 'topic is missing.' })
  expect(await media.get(`${base}&room_mode=1&topic=`)).toEqual({
    ret: 407,
    msg: 'topic must be 1 to 149 bytes of UTF-8.',
  })
  expect(await media.get(`${base}&topic=a&room_mode=5`)).toEqual({
    ret: 407,
    msg: 'room_mode must be a whole number from 1 to 4.',
  })
  const secret = 'x'.repeat(65)
  expect(await media.get(`${base}&topic=a&room_mode=1&host_password=${secret}`)).toEqual({
    ret: 407,
    msg: 'host_password must be at most 64 bytes of UTF-8.',
  })
})

test('topic counts bytes: 149 pass, 150 do not, in Chinese too', async ({ media }) => {
  const base = `/rtc/room/create?access_token=${media.token}&owner_id=anna&room_mode=1&topic=`
  const chinese = '会'.repeat(49)
  expect((await media.get(`${base}${encodeURIComponent(`${chinese}ab`)}`)).ret).toBe(0)
  expect((await media.get(`${base}${encodeURIComponent(`${chinese}会`)}`)).ret).toBe(407)
})

test('an unexpected error is logged in full and answered generically', async () => {
  await using bench = await openBench('media')
  bench.behave(() => {
    throw new TypeError('secret inner detail')
  })
  expect(await bench.get(`/rtc/room/get?access_token=${bench.token}&room_id=1`)).toEqual({
    ret: 700,
    msg: 'An internal error occurred and was logged.',
  })
  expect(bench.logged).toMatchObject([{ err: { message: 'secret inner detail' }, operation: 'get_room' }])
  bench.behave(() => Promise.reject(new TypeError('later')))
  expect((await bench.get(`/rtc/room/get?access_token=${bench.token}&room_id=1`)).ret).toBe(700)
})

test('on the device API an unexpected error has the code of the operation', async () => {
  await using bench = await openBench('device')
  const create = `/avd/api/outgoing/createOutgoingUser?accessToken=${bench.token}&roomId=1&userId=2&userName=c&userAddress=rtsp://h`
  bench.behave(() => Promise.reject(new TypeError('inner')))
  expect((await bench.get(create)).ret).toBe(302)
  expect((await bench.get(`${list}?accessToken=${bench.token}`)).ret).toBe(304)
  bench.behave(() => {
    throw notStored('the disk refuses')
  })
  expect(await bench.get(create)).toEqual({ ret: 302, msg: 'The change could not be stored: nothing was changed.' })
})

test('an error without a number in the API counts as unexpected', async () => {
  await using bench = await openBench('media')
  bench.behave(() => {
    throw new ApiError('joinFailed')
  })
  expect((await bench.get(`/rtc/room/get?access_token=${bench.token}&room_id=1`)).ret).toBe(700)
})

test('the observer receives every request with client, operation, duration and the reason of a refused token', async ({
  media,
}) => {
  await media.get('/rtc/room/get?access_token=d3Jvbmc&room_id=42')
  expect(media.seen.at(-1)).toMatchObject({
    api: 'media',
    operation: 'get_room',
    method: 'GET',
    path: '/rtc/room/get',
    ret: 602,
    client: '127.0.0.1',
    room: '42',
    reason: 'there is no session with this token',
  })
  await media.get(`/rtc/room/create?access_token=${media.token}&owner_id=a&room_mode=1&topic=b`)
  expect(media.seen.at(-1)).toMatchObject({ ret: 0, credential: 'demo_access', room: '555555555' })
  expect(media.seen.at(-1)?.duration).toBeGreaterThan(0)
})

test('the OpenAPI document is served beside the operations, also to other origins', async ({ media }) => {
  const response = await fetch(`${media.url}/openapi.json`)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(await response.json()).toEqual({ openapi: '3.1.0' })
})

test('the join page can be mounted; its failures are answered like all others', async () => {
  await using bench = await openBench('media', {
    mounts: {
      'GET /jroom/': unproven('no state', (context: Context, next: Next) => {
        if (context.path === '/jroom/hello') context.body = 'hello'
        else if (context.path === '/jroom/broken') throw new Error('broken')
        else return next()
      }),
    },
  })
  expect(await (await fetch(`${bench.url}/jroom/hello`)).text()).toBe('hello')
  expect((await bench.get('/jroom/broken')).ret).toBe(700)
  expect((await bench.get('/jroom/else')).ret).toBe(408)
})
