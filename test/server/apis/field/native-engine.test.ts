import { expect, test } from 'vitest'
import { type LiveSite, liveSite } from '../../../support/sites/live-site.ts'
import { parseRaw, sendRaw } from '../../../support/sites/api-site.ts'
import { type Place, sendRequest } from './requests.ts'

/**
 * The native engine of the original platform: one base address, every parameter always, empty or 0 by default, in its own order, percent-escapes in lower case. It reads
 * `result` and `err`, and items in snake_case.
 */

const engine = ['User-Agent: avd-engine/2.5', 'Accept: */*', 'Accept-Encoding: identity']
const outgoing = '/avd/api/outgoing'

/** Sends a request like the engine, and reads its answer. */
async function call(site: LiveSite, target: string, to: Place = 'media'): Promise<Record<string, unknown>> {
  const answer = parseRaw(await sendRequest(site, { to, target, headers: engine }))
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  return JSON.parse(answer.body) as Record<string, unknown>
}

const escape = (text: string): string =>
  encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (triple) => triple.toLowerCase())

const trade = `/avd/api/admin/getAccessToken?mcuServerURI=rooms.example&accessKey=full-access&secretKey=${escape('a secret key of the tests')}`
const createRoom = (token: string): string =>
  `/rtc/room/create?access_tocken=${escape(token)}&topic=&owner_id=&host_password=&room_mode=1&max_video=0&max_audio=0&attendee_max=0&room_extend_id=&start_time=0&end_time=0&room_type=0&callback=`
const createUser = (token: string, roomId: string, more: string): string =>
  `${outgoing}/createOutgoingUser?accessToken=${escape(token)}&roomId=${roomId}&userAddress=${escape(cameraAddress)}&${more}`

const cameraAddress = 'rtsp://10.0.0.8:554/h264/ch1/main/av_stream'
const serverInfo = (token: string): string =>
  `/sdk/config/serverinfo?client_info=${escape(JSON.stringify({ access_tocken: token }))}&uri_encode=yes`
const getMcu = (token: string, roomId: string, options: string): string =>
  `/sdk/get_mcu?room_id=${roomId}&token=${escape(token)}&options=${options}`
const listUsers = (token: string, roomId: string): string =>
  `${outgoing}/getOutgoingUsers?roomId=${roomId}&accessToken=${escape(token)}`
const destroyUser = (token: string, roomId: string, userId: string): string =>
  `${outgoing}/destroyOutgoingUser?roomId=${roomId}&userAddress=${escape(cameraAddress)}&userId=${userId}&accessToken=${escape(token)}`
const deleteRoom = (token: string, roomId: string): string =>
  `/rtc/room/del?access_tocken=${escape(token)}&room_id=${roomId}`

test('The native engine completes its round on one address: init, token, room, MCU, camera, list, and removes everything again', async () => {
  const site = await liveSite()
  const { compatibility } = site.settings()
  Object.assign(compatibility, { older_clients: true, get_access_token: true })

  const traded = await call(site, trade)
  expect(traded).toEqual({ ret: 0, msg: '', result: 0, err: '', data: { accessToken: expect.any(String) } })
  const token = (traded.data as { accessToken: string }).accessToken

  const address = new URL(site.client.media).host
  expect(await call(site, serverInfo(token))).toEqual({
    ret: 0,
    room_server: { uri: '127.0.0.1:7082', protocol: 'ws' },
    ice_servers: [],
    is_cluster: true,
    rest_uri: address,
    ft_value: { ft_record_audio: 1, ft_record_video: 1, ft_livebroadcast: 1 },
  })

  const created = await call(site, createRoom(token))
  expect(created).toEqual({ ret: 0, room_id: expect.stringMatching(/^[1-9]\d{8}$/) })
  const roomId = String(created.room_id)
  expect(await call(site, `/rtc/room/get?room_id=${roomId}&access_tocken=${escape(token)}`)).toMatchObject({
    ret: 0,
    topic: `Room ${roomId}`,
    owner_id: '',
    host_password: '',
    max_video: 16,
    max_audio: 16,
    attendee_max: 100,
    room_extend_id: '',
  })

  for (const options of ['undefined', '', escape("{'ip_tag':'local','idc_code':''}")]) {
    expect(await call(site, getMcu(token, roomId, options))).toEqual({
      ret: 0,
      addr: '127.0.0.1:7082',
    })
  }

  const login = escape("{'login_name':'admin','login_password':'it\\'s \"5\"','assist_address':''}")
  expect(await call(site, createUser(token, roomId, `userId=cam-1&userName=&userData=&options=${login}`))).toEqual({
    ret: 0,
    msg: '',
    result: 0,
    err: '',
    data: { roomId, userId: 'cam-1' },
  })
  expect(
    await call(site, createUser(token, roomId, 'userId=cam-2&userName=Door&userData=&options=undefined')),
  ).toMatchObject({ result: 0 })

  const item = { roomId, room_id: roomId, userData: '', userAddress: cameraAddress }
  const listed = await call(site, listUsers(token, roomId))
  expect(listed).toEqual({
    ret: 0,
    msg: '',
    result: 0,
    err: '',
    data: {
      total: 2,
      items: [
        {
          ...item,
          user_address: item.userAddress,
          userId: 'cam-1',
          user_id: 'cam-1',
          userName: 'cam-1',
          user_name: 'cam-1',
          options: { login_name: 'admin', login_password: '******', assist_address: '' },
        },
        {
          ...item,
          user_address: item.userAddress,
          userId: 'cam-2',
          user_id: 'cam-2',
          userName: 'Door',
          user_name: 'Door',
          options: {},
        },
      ],
    },
  })
  expect(await call(site, `/rtc/room/get_user_number?room_id=${roomId}&access_tocken=${escape(token)}`)).toEqual({
    ret: 0,
    user_count_list: [{ room_id: roomId, user_count: 2 }],
  })

  expect(await call(site, destroyUser(token, roomId, 'cam-1'))).toEqual({
    ret: 0,
    msg: '',
    result: 0,
    err: '',
    data: { roomId, userId: 'cam-1' },
  })
  expect(await call(site, deleteRoom(token, roomId))).toEqual({
    ret: 0,
    room_id: roomId,
  })
  expect(await call(site, listUsers(token, ''))).toMatchObject({
    result: 0,
    data: { total: 0, items: [] },
  })
  expect(site.olderClients.view().served).toBeGreaterThanOrEqual(10)
})

test('With the switch off, the same requests get the standard answers', async () => {
  const site = await liveSite()
  const { token } = site.client
  const missing = (path: string) => ({ ret: 408, msg: `There is no ${path} on the media API.` })
  expect(await call(site, trade)).toEqual(missing('/avd/api/admin/getAccessToken'))
  expect(await call(site, serverInfo(token))).toEqual(missing('/sdk/config/serverinfo'))
  expect(await call(site, createRoom(token))).toEqual({ ret: 407, msg: 'topic must be 1 to 149 bytes of UTF-8.' })
  const named = createRoom(token).replace('topic=', 'topic=T').replace('owner_id=', 'owner_id=o')
  const { room_id } = await call(site, named)
  const roomId = String(room_id)
  expect(roomId).toMatch(/^[1-9]\d{8}$/)
  expect(await call(site, getMcu(token, roomId, 'undefined'))).toMatchObject({ ret: 407 })
  expect(await call(site, getMcu(token, roomId, ''))).toEqual({ ret: 0, addr: '127.0.0.1:7082' })
  const camera = createUser(token, roomId, 'userId=cam-1&userName=Door&userData=&options=')
  expect(await call(site, camera)).toEqual(missing(`${outgoing}/createOutgoingUser`))
  const data = { roomId, userId: 'cam-1' }
  expect(await call(site, camera, 'device')).toEqual({ ret: 0, data })
  expect(await call(site, listUsers(token, roomId))).toEqual(missing(`${outgoing}/getOutgoingUsers`))
  const item = { ...data, userName: 'Door', userAddress: cameraAddress, userData: '', options: {} }
  expect(await call(site, listUsers(token, roomId), 'device')).toEqual({ ret: 0, data: { total: 1, items: [item] } })
  expect(await call(site, destroyUser(token, roomId, 'cam-1'))).toEqual(missing(`${outgoing}/destroyOutgoingUser`))
  expect(await call(site, destroyUser(token, roomId, 'cam-1'), 'device')).toEqual({ ret: 0, data })
  expect(await call(site, destroyUser(token, roomId, 'cam-1'), 'device')).toEqual({
    ret: 425,
    msg: 'There is no such outgoing user in this room.',
  })
  expect(await call(site, deleteRoom(token, roomId))).toEqual({ ret: 0, room_id: roomId })
})

test('Header names may have any case, as in old programs; parameter names may not', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const port = Number(new URL(site.client.media).port)
  const list = listUsers(site.client.token, '')
  const heads = [
    `GET ${list} HTTP/1.0\r\n`,
    `GET ${list} HTTP/1.1\r\nhost: A\r\naccept: */*\r\nconnection: close\r\ncontent-length: 0\r\n`,
    `GET ${list} HTTP/1.1\r\nHOST:a\r\nCONNECTION:close\r\nContent-Type: application/x-www-form-urlencoded\r\n`,
    `GET http://rooms.example${list} HTTP/1.1\r\nHost: rooms.example\r\nProxy-Connection: keep-alive\r\nConnection: close\r\n`,
  ]
  for (const head of heads) {
    const { body } = parseRaw(await sendRaw(port, `${head}\r\n`))
    expect([head, JSON.parse(body)]).toMatchObject([head, { ret: 0, result: 0, data: { total: 0, items: [] } }])
  }
  const twice = `GET ${list} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2)
  expect((await sendRaw(port, twice, 2)).split('"result":0').length).toBe(3)
  expect(await call(site, list.replace('accessToken', 'AccessToken'))).toMatchObject({ ret: 401, result: 401 })
})

test('A failure of the device API has code and reason in both pairs of fields, on either port', async () => {
  const site = await liveSite()
  Object.assign(site.settings().compatibility, { older_clients: true, get_access_token: true })
  const failures: [string, number][] = [
    [createUser(site.client.token, '404404404', 'userId=a&userName=A&userData=&options='), 424],
    [createUser('wrong', '1', 'userId=a&userName=A'), 401],
    [createUser(site.client.token, '1', 'userId=a&userName=A&options=%7b'), 401],
    [`${outgoing}/destroyOutgoingUser?roomId=1&accessToken=TOKEN`, 401],
    [`/avd/api/live/listLives?begin=0&count=1&filter=&accessToken=TOKEN`, 401],
    [`${outgoing}/getOutgoingUsers?accessToken=%zz`, 401],
    [trade.replace('full-access', 'nobody'), 401],
    [trade.replace('secretKey=a', 'secretKey=b'), 401],
    [trade.replace('secretKey', 'secret'), 401],
  ]
  for (const [target, code] of failures) {
    for (const to of ['media', 'device'] as const) {
      const { ret, msg, result, err, ...more } = await call(site, target, to)
      expect([target, ret, result, more]).toEqual([target, code, code, {}])
      expect(msg).toEqual(expect.stringMatching(/./))
      expect(err).toBe(msg)
    }
  }
})

test('An invalid request to the device API is answered in both pairs of fields, one to the media API in its usual form', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const brewed = parseRaw(await sendRequest(site, { to: 'device', method: 'BREW', target: `${outgoing}/x` }))
  const msg = 'This HTTP method is not supported.'
  expect(JSON.parse(brewed.body)).toEqual({ ret: 401, msg, result: 401, err: msg })
  expect(await call(site, '/rtc/none')).toEqual({ ret: 408, msg: 'There is no /rtc/none on the media API.' })
  expect(await call(site, '/rtc/room/get?room_id=1&access_token=TOKEN')).toEqual({
    ret: 404,
    msg: 'There is no such room.',
  })
})

test('getAccessToken has its own switch, and the same limit of guesses as a digest', async () => {
  const site = await liveSite()
  const { compatibility, access } = site.settings()
  compatibility.get_access_token = true
  expect(await call(site, trade)).toMatchObject({ ret: 408 })
  Object.assign(compatibility, { older_clients: true, get_access_token: false })
  expect(await call(site, trade)).toMatchObject({ ret: 401, result: 401, err: expect.stringContaining('There is no') })
  expect(site.olderClients.view().refused).toMatchObject([
    { setting: 'get_access_token', operation: 'get_access_token', client: '127.0.0.1', credential: 'full-access' },
  ])
  compatibility.get_access_token = true
  access.failures_per_minute = 2
  const guess = trade.replace('secretKey=a', 'secretKey=b')
  const answers = [await call(site, guess), await call(site, guess), await call(site, trade)]
  expect(answers.map(({ ret, err }) => [ret, err])).toEqual([
    [401, 'access_key or digest is wrong.'],
    [401, 'access_key or digest is wrong.'],
    [401, 'Too many failed authentications from this address: wait a minute.'],
  ])
})

test('Requests that only a mistake can produce are refused, also for older clients', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const meeting = { topic: 'T', owner_id: 'o', room_mode: 1 }
  const { client } = site
  expect(await client.get('/rtc/room/create', { owner_id: 'o', room_mode: 1 })).toMatchObject({ ret: 407 })
  expect(await client.get('/rtc/room/create', { ...meeting, topic: 'x'.repeat(150) })).toMatchObject({ ret: 407 })
  expect(await client.get('/rtc/room/create', { ...meeting, room_mode: '' })).toMatchObject({ ret: 407 })
  const room_id = await client.createRoom()
  for (const options of ["{'ip_tag':'local'", "{'ip_tag':`local`}", '[]', "'local'", 'null', "{'ip_tag':'a\\"]) {
    expect([options, await client.get('/sdk/get_mcu', { room_id, options })]).toMatchObject([options, { ret: 407 }])
  }
})
