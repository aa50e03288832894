import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { type LiveSite, liveSite } from '../../../support/sites/live-site.ts'
import { parseRaw } from '../../../support/sites/api-site.ts'
import { sendRequest } from './requests.ts'

/**
 * Pages on the SDKs 2.5 and 3.6 of the original platform: script elements made by jQuery. The page gives `callback=test` or `callback=?`, jQuery appends its own name and `_`;
 * a browser keeps the brackets of JSON in a query, and escapes its quotes.
 */

const browser = [
  'Accept: */*',
  'Accept-Language: zh-CN,zh;q=0.9',
  'Referer: https://page.example/meeting.html',
  'User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/58.0.3029.110',
  'Sec-Fetch-Dest: script',
]

/** Runs a script element: returns the function's name and its argument. */
async function script(site: LiveSite, target: string): Promise<{ name: string; answer: Record<string, unknown> }> {
  const { status, headers, body } = parseRaw(await sendRequest(site, { to: 'media', target, headers: browser }))
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
  const name = /^\/\*\*\/([\w$.]+)\(/.exec(body)?.[1] ?? ''
  const got: Record<string, unknown>[] = []
  runInNewContext(body, { [name]: (answer: Record<string, unknown>) => got.push(answer) })
  expect(got).toHaveLength(1)
  return { name, answer: got[0] ?? {} }
}

const jquery = 'jQuery1113021467_1496311111111'

test('A page completes its round with scripts: token, init, room, MCU, camera, list, and removes everything again', async () => {
  const site = await liveSite()
  Object.assign(site.settings().compatibility, { older_clients: true, get_access_token: true })
  const secret = encodeURIComponent('a secret key of the tests')
  const { name, answer: traded } = await script(
    site,
    `/avd/api/admin/getAccessToken?callback=${jquery}&mcuServerURI=rooms.example&accessKey=full-access&secretKey=${secret}&_=1`,
  )
  expect(name).toBe(jquery)
  expect(traded.result).toBe(0)
  const token = (traded.data as { accessToken: string }).accessToken

  const room = await script(
    site,
    `/rtc/room/create?callback=test&owner_id=111111&access_tocken=${token}&room_mode=1&topic=outgoingMeeting&max_video=5&max_audio=5&host_password=654321&callback=${jquery}&_=2`,
  )
  expect(room.name).toBe(jquery)
  expect(room.answer).toEqual({ ret: 0, room_id: expect.any(String) })
  const roomId = String(room.answer.room_id)

  const info = await script(
    site,
    `/sdk/config/serverinfo?uri_encode=yes&client_info={%22access_tocken%22:%22${token}%22}&callback=test&_=3`,
  )
  expect(info.name).toBe('test')
  const { room_server, ice_servers } = info.answer as { room_server: { uri: string }; ice_servers: unknown[] }
  expect([room_server.uri, ice_servers.length]).toEqual(['127.0.0.1:7082', 0])
  // The SDKs compare it loosely with 'true' and with 1, to decide whether to call get_mcu.
  expect(Number(info.answer.is_cluster)).toBe(1)

  const mcu = await script(site, `/sdk/get_mcu?room_id=${roomId}&token=${token}&callback=test&_=4`)
  expect(mcu).toEqual({ name: 'test', answer: { ret: 0, addr: '127.0.0.1:7082' } })

  const who = 'userId=js_outgoing:20217&userName=js_outgoing:20217'
  const where = 'userAddress=rtsp://10.0.0.8:554/Streaming/Channels/101?transportmode=unicast'
  const options = '{%22login_name%22:%22admin%22,%22login_password%22:%2212345%22,%22assist_address%22:%22%22}'
  const created = await script(
    site,
    `/avd/api/outgoing/createOutgoingUser?accessToken=${token}&roomId=${roomId}&${who}&${where}&userData=&options=${options}&callback=${jquery}&_=5`,
  )
  expect(created.answer).toMatchObject({ result: 0, data: { roomId, userId: 'js_outgoing:20217' } })

  const list = await script(
    site,
    `/avd/api/outgoing/getOutgoingUsers?roomId=${roomId}&accessToken=${token}&callback=${jquery}&_=6`,
  )
  const { data } = list.answer as { data: { total: number; items: Record<string, string>[] } }
  expect(data.total).toBe(1)
  const [{ user_id = '', user_name = '', user_address = '', room_id = '' } = {}] = data.items
  expect([user_id, user_name, room_id]).toEqual(['js_outgoing:20217', 'js_outgoing:20217', roomId])

  const destroyed = await script(
    site,
    `/avd/api/outgoing/destroyOutgoingUser?roomId=${roomId}&userAddress=${user_address}&userId=${user_id}&accessToken=${token}&callback=${jquery}&_=7`,
  )
  expect(destroyed.answer).toMatchObject({ result: 0, err: '' })
  expect(
    (await script(site, `/rtc/room/del?callback=test&access_tocken=${token}&room_id=${roomId}&callback=${jquery}&_=8`))
      .answer,
  ).toEqual({ ret: 0, room_id: roomId })
})

test('An error reaches the page with code and reason', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const { answer } = await script(
    site,
    `/avd/api/outgoing/getOutgoingUsers?roomId=1&accessToken=old&callback=${jquery}&_=1`,
  )
  expect([answer.result, answer.err]).toEqual([
    401,
    'The access token is missing, wrong or expired: authenticate again.',
  ])
  const info = await script(
    site,
    '/sdk/config/serverinfo?uri_encode=yes&client_info={%22access_tocken%22:%22old%22}&callback=test',
  )
  expect(info.answer).toEqual({ ret: 602, msg: expect.any(String) })
})

test('A page of another origin may post to the device operations of the media port after a preflight', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const target = '/avd/api/outgoing/getOutgoingUsers'
  const asked = ['Origin: https://page.example', 'Access-Control-Request-Method: POST']
  const preflight = parseRaw(await sendRequest(site, { to: 'media', method: 'OPTIONS', target, headers: asked }))
  expect(preflight.headers['access-control-allow-methods']).toBe('GET, POST')
  const form = ['Origin: https://page.example', 'Accept: */*', 'Content-Type: application/x-www-form-urlencoded']
  const posted = parseRaw(
    await sendRequest(site, { to: 'media', method: 'POST', target, headers: form, body: 'accessToken=TOKEN&roomId=' }),
  )
  expect(posted.headers['access-control-allow-origin']).toBe('*')
  expect(JSON.parse(posted.body)).toMatchObject({ ret: 0, result: 0, data: { total: 0 } })
})

test('A server program in PHP or Java, without an Accept header, gets plain JSON and its own fields with the switch on or off', async () => {
  const site = await liveSite()
  for (const older_clients of [false, true]) {
    site.settings().compatibility.older_clients = older_clients
    const target =
      '/rtc/room/create?callback=test&topic=%E6%99%A8%E4%BC%9A&owner_id=php&room_mode=1&start_time=1&end_time=2&room_type=0&access_tocken=TOKEN'
    const { headers, body } = parseRaw(await sendRequest(site, { to: 'media', target }))
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(JSON.parse(body)).toEqual({ ret: 0, room_id: expect.any(String) })
  }
})

test('With the switch off, the same pages get the standard answers, as scripts', async () => {
  const site = await liveSite()
  const { token } = site.client
  const answers = async (target: string) => (await script(site, target)).answer
  const missing = (path: string) => ({ ret: 408, msg: `There is no ${path} on the media API.` })
  const trade = '/avd/api/admin/getAccessToken'
  expect(await answers(`${trade}?callback=${jquery}&mcuServerURI=h&accessKey=full-access&secretKey=x&_=1`)).toEqual(
    missing(trade),
  )
  const info = '/sdk/config/serverinfo'
  expect(
    await answers(`${info}?uri_encode=yes&client_info={%22access_tocken%22:%22${token}%22}&callback=test&_=3`),
  ).toEqual(missing(info))
  const room = await answers(
    `/rtc/room/create?callback=test&owner_id=111111&access_tocken=${token}&room_mode=1&topic=outgoingMeeting&max_video=5&max_audio=5&host_password=654321&callback=${jquery}&_=2`,
  )
  expect(room).toEqual({ ret: 0, room_id: expect.any(String) })
  const list = '/avd/api/outgoing/getOutgoingUsers'
  const target = `${list}?roomId=${String(room.room_id)}&accessToken=${token}&callback=${jquery}&_=6`
  expect(await answers(target)).toEqual(missing(list))
  const onItsPort = parseRaw(await sendRequest(site, { to: 'device', target, headers: browser }))
  expect(onItsPort.body).toBe(`/**/${jquery}({"ret":0,"data":{"total":0,"items":[]}});`)
})
