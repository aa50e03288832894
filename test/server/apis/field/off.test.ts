import { expect, test } from 'vitest'
import { camera, liveSite } from '../../../support/sites/live-site.ts'
import { sendRequest, type WireRequest, withoutDate } from './requests.ts'

/**
 * With the switch off, all affected answers are byte for byte as before the switch existed: `answers-when-off.txt` was recorded then.
 */

const script = ['Accept: */*', 'Referer: http://another.example/page.html']
const cors = ['Accept: application/json', 'Origin: http://another.example']
const form = ['Content-Type: application/x-www-form-urlencoded']
const preflight = ['Origin: http://another.example', 'Access-Control-Request-Method: POST']
const outgoing = '/avd/api/outgoing'
const create = `${outgoing}/createOutgoingUser?accessToken=TOKEN&roomId=recorded&userAddress=rtsp://10.0.0.8:554/a`
const info = '%7B%22access_tocken%22:%22TOKEN%22%7D'
const exchange = '/avd/api/admin/getAccessToken?mcuServerURI=rooms.example&accessKey=full-access&secretKey=a%20secret'

const requests: readonly WireRequest[] = [
  { to: 'media', target: `/sdk/config/serverinfo?uri_encode=yes&client_info=${info}` },
  {
    to: 'media',
    target: `/sdk/config/serverinfo?uri_encode=yes&client_info=${info}&callback=test&_=1`,
    headers: script,
  },
  { to: 'media', method: 'POST', target: '/sdk/config/serverinfo', headers: form, body: 'uri_encode=yes' },
  { to: 'device', target: '/sdk/config/serverinfo' },
  { to: 'media', target: exchange },
  { to: 'media', target: `${exchange}&callback=jQuery1_2&_=1`, headers: script },
  { to: 'device', target: exchange, headers: cors },
  { to: 'device', method: 'POST', target: exchange },
  { to: 'media', target: '/rtc/room/create?topic=&owner_id=anna&room_mode=1&access_token=TOKEN' },
  { to: 'media', target: '/rtc/room/create?topic=Early&owner_id=&room_mode=1&access_token=TOKEN' },
  { to: 'media', target: '/rtc/room/create?owner_id=anna&room_mode=1&access_token=TOKEN' },
  { to: 'media', target: '/sdk/get_mcu?room_id=recorded&token=TOKEN&options=undefined' },
  { to: 'media', target: '/sdk/get_mcu?room_id=recorded&token=TOKEN&options={%27ip_tag%27:%27local%27}' },
  { to: 'media', target: '/sdk/get_mcu?room_id=recorded&token=TOKEN&options={%22ip_tag%22:%22local%22}' },
  { to: 'media', target: `${outgoing}/getOutgoingUsers?accessToken=TOKEN` },
  { to: 'media', target: `${outgoing}/getOutgoingUsers?accessToken=TOKEN&callback=jQuery1_2`, headers: script },
  {
    to: 'media',
    method: 'POST',
    target: `${outgoing}/getOutgoingUsers`,
    headers: [...cors, ...form],
    body: 'accessToken=TOKEN',
  },
  { to: 'media', method: 'OPTIONS', target: `${outgoing}/getOutgoingUsers`, headers: preflight },
  { to: 'media', target: '/avd/api/live/findLives?accessToken=TOKEN' },
  { to: 'device', target: `${create}&userId=a&userName=A&userData=&options=undefined` },
  { to: 'device', target: `${create}&userId=a&userName=A&options={%27login_name%27:%27admin%27}` },
  { to: 'device', target: `${create}&userId=a&userName=` },
  { to: 'device', target: `${create}&userId=a&userName=A&userData=&options=` },
  { to: 'device', target: `${create}&userId=a&userName=A&callback=jQuery1_2`, headers: script },
  {
    to: 'device',
    method: 'POST',
    target: `${outgoing}/createOutgoingUser`,
    headers: [...cors, ...form],
    body: 'accessToken=TOKEN&roomId=none&userId=b&userName=B&userAddress=rtsp://10.0.0.8:554/b',
  },
  { to: 'device', target: `${outgoing}/getOutgoingUsers?accessToken=TOKEN&roomId=recorded` },
  { to: 'device', target: `${outgoing}/getOutgoingUsers?accessToken=TOKEN&roomId=`, headers: cors },
  { to: 'device', target: `${outgoing}/getOutgoingUsers?accessToken=wrong` },
  {
    to: 'device',
    target: `${outgoing}/destroyOutgoingUser?roomId=recorded&userId=a&userAddress=rtsp://10.0.0.9&accessToken=TOKEN`,
  },
  {
    to: 'device',
    target: `${outgoing}/destroyOutgoingUser?roomId=recorded&userId=a&userAddress=rtsp://10.0.0.8:554/a&accessToken=TOKEN`,
  },
  { to: 'device', method: 'OPTIONS', target: `${outgoing}/createOutgoingUser`, headers: preflight },
  { to: 'device', method: 'DELETE', target: `${outgoing}/createOutgoingUser` },
  { to: 'device', target: '/avd/api/live/findLives' },
  { to: 'device', target: `${outgoing}/getOutgoingUsers?accessToken=%ZZ` },
  { to: 'device', method: 'BREW', target: `${outgoing}/getOutgoingUsers` },
]

test('with the switch off, all affected answers are byte for byte as before', async () => {
  const site = await liveSite()
  await site.client.createRoom({ room_extend_id: 'recorded' })
  expect(await site.client.outgoing('createOutgoingUser', camera('recorded', 'first'))).toMatchObject({ ret: 0 })
  let text = ''
  for (const request of requests) {
    const { to, method = 'GET', target, headers = [], body = '' } = request
    const sent = [`${method} ${target} (${to} port)`, ...headers, ...(body === '' ? [] : [body])]
    text += `>>> ${sent.join('\n>>> ')}\n${withoutDate(await sendRequest(site, request))}\n\n`
  }
  await expect(text).toMatchFileSnapshot('answers-when-off.txt')
})
