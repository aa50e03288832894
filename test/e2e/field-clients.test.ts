import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SettingsPatch } from '../../shared/settings.ts'
import { ApiClient } from '../support/api-client.ts'
import { violations } from '../support/axe.ts'
import { startTestCamera } from '../support/camera/test-camera.ts'
import { openWindows } from '../support/chromium.ts'
import { startHeadless } from '../support/headless.ts'
import { shared } from '../support/fixtures.ts'

/**
 * Pages written for the browser SDKs 2.5 and 3.6 of the original platform, in Chromium, on another origin than the APIs: first they are refused, then the operator sees it on
 * the overview and turns the switch on, then they work unmodified with a real camera.
 */

type Answer = Record<string, unknown>
/** Result of a device operation as a page reads it. */
interface Outcome {
  data?: Answer & { total?: number; items?: Record<string, string>[] }
  failed?: { code?: number; reason?: string }
}

const credential = { label: 'Portal', access_key: 'portal', secret_key: 'a secret of the portal' }
const login = { user: 'admin', password: 'gate-12345' }
const form = 'application/x-www-form-urlencoded; charset=UTF-8'
const outgoing = '/avd/api/outgoing'

describe('pages on the original browser SDKs', () => {
  const controller = shared(async () => {
    const site = { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] }
    return await startHeadless({ site })
  })
  const browser = shared(() => openWindows())
  const camera = shared(() => startTestCamera({ auth: 'digest', ...login }))
  const origin = shared(
    () => serveOlderPage(),
    (origin) => origin.close(),
  )
  /** The only address that these pages know. */
  const base = shared(() => controller().ready.media)
  /** Address of the media node. */
  const node = shared(() => vi.waitFor(nodeAddress, { timeout: 60_000, interval: 100 }))
  const page = shared(async () => {
    const page = await browser().newPage()
    await page.goto(`http://127.0.0.1:${(origin().address() as AddressInfo).port}/`)
    return page
  })

  /** Waits for the node, which starts after the APIs on a busy machine. @throws Error while it is missing */
  async function nodeAddress(): Promise<string> {
    const { counts, listeners } = await controller().rpc('overview.get', {})
    const url = listeners.find(({ name }) => name === 'node')?.url ?? ''
    if (counts.nodes_online === 0 || url === '') throw new Error('the media node is not online')
    return new URL(url).host
  }

  /** Changes the switches until the test has ended. */
  async function turn(compatibility: SettingsPatch['compatibility']): Promise<void> {
    onTestFinished(turnOff)
    await controller().rpc('settings.set', { compatibility })
  }
  async function turnOff(): Promise<void> {
    const compatibility = { older_clients: false, get_access_token: false }
    await controller().rpc('settings.set', { compatibility })
  }

  /** Calls a function of the page's SDK. */
  const inPage = async (name: string, ...given: unknown[]): Promise<Answer> =>
    page().evaluate(`older.${name}(${given.map((one) => JSON.stringify(one)).join(', ')})`)
  const script = (target: string, from = base()): Promise<Answer> => inPage('script', from + target)
  const ajax = (target: string, body?: string, type?: string): Promise<Answer> =>
    inPage('ajax', base() + target, ...(type === undefined ? [] : [body, type]))
  const outcome = async (answer: Answer): Promise<Outcome> => inPage('outcome', answer)

  const trade = (callback = ''): string =>
    `/avd/api/admin/getAccessToken?${callback}mcuServerURI=${new URL(base()).host}&accessKey=portal&secretKey=${encodeURIComponent(credential.secret_key)}`
  const init = (clientInfo: string): string => `/sdk/config/serverinfo?uri_encode=yes&client_info=${clientInfo}`
  /** Written like SDK 2.5: only the browser's own escapes. */
  const plainInfo = (token: string): string => JSON.stringify({ access_tocken: token })
  /** Written like SDK 3.6: escaped by itself, and again with the query. */
  const escapedInfo = (token: string): string => encodeURIComponent(encodeURIComponent(plainInfo(token)))
  const createRoom = (token: string): string =>
    `/rtc/room/create?callback=test&owner_id=111111&access_tocken=${token}&room_mode=1&topic=outgoingMeeting&max_video=5&max_audio=5&host_password=654321`
  const createUser = (token: string, roomId: string, options: string): string =>
    `accessToken=${token}&roomId=${roomId}&userId=js_outgoing:20217&userName=js_outgoing:20217&userAddress=${camera().url}&userData=&options=${options}`
  const destroyUser = (token: string, { room_id, user_id, user_address }: Record<string, string>): string =>
    `roomId=${room_id}&userAddress=${user_address}&userId=${user_id}&accessToken=${token}`

  test('with the switch off they get standard answers: their own operations are unknown, and a success looks like a failure to them', async () => {
    const client = new ApiClient(controller().ready, credential)
    expect((await client.authenticate()).ret).toBe(0)
    const { token } = client
    const missing = (path: string): Answer => ({ ret: 408, msg: `There is no ${path} on the media API.` })

    expect(await inPage('ownScript', base() + init(plainInfo(token)))).toEqual(missing('/sdk/config/serverinfo'))
    expect(await ajax(init(escapedInfo(token)))).toEqual(missing('/sdk/config/serverinfo'))
    expect(await script(trade())).toEqual(missing('/avd/api/admin/getAccessToken'))
    expect(await script(`${outgoing}/getOutgoingUsers?accessToken=${token}`)).toEqual(
      missing(`${outgoing}/getOutgoingUsers`),
    )
    expect(await ajax(`${outgoing}/getOutgoingUsers`, `accessToken=${token}`, form)).toEqual(
      missing(`${outgoing}/getOutgoingUsers`),
    )

    // Rooms, and devices on their own port, work for everyone; the answers have no `result`.
    const created = await script(createRoom(token))
    expect(created).toEqual({ ret: 0, room_id: expect.any(String) })
    const roomId = String(created.room_id)
    expect(await inPage('ownScript', `${base()}/sdk/get_mcu?room_id=${roomId}&token=${token}`)).toEqual({
      ret: 0,
      addr: node(),
    })
    expect(await ajax(`/sdk/get_mcu?room_id=${roomId}&token=${token}&options=undefined`)).toMatchObject({ ret: 407 })
    const options = encodeURIComponent(JSON.stringify({ login_name: login.user, login_password: login.password }))
    const { device } = controller().ready
    const joined = await script(`${outgoing}/createOutgoingUser?${createUser(token, roomId, options)}`, device)
    expect(joined).toEqual({ ret: 0, data: { roomId, userId: 'js_outgoing:20217' } })
    expect(await outcome(joined)).toEqual({ failed: {} })
    const list = await script(`${outgoing}/getOutgoingUsers?roomId=${roomId}&accessToken=${token}`, device)
    expect(list).toEqual({ ret: 0, data: { total: 1, items: [expect.anything()] } })
    expect(JSON.stringify(list)).not.toMatch(/"(room_id|user_id|user_name|user_address|err)":/)
    const item = { room_id: roomId, user_id: 'js_outgoing:20217', user_address: camera().url }
    expect(await script(`${outgoing}/destroyOutgoingUser?${destroyUser(token, item)}`, device)).not.toHaveProperty(
      'result',
    )
    expect(await script(`/rtc/room/del?callback=test&access_tocken=${token}&room_id=${roomId}`)).toEqual({
      ret: 0,
      room_id: roomId,
    })
  })

  test('the operator reads on the overview which client was refused, goes to the switch by keyboard, and turns it on', async () => {
    onTestFinished(turnOff)
    const client = new ApiClient(controller().ready, credential)
    await client.authenticate()
    for (let calls = 0; calls < 2; calls++)
      expect(await ajax(init(escapedInfo(client.token)))).toMatchObject({ ret: 408 })
    await controller().rpc('overview.dismiss_welcome', {})
    const desk = await browser().newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-US' })
    const key = (await readFile(join(controller().folder, 'console.key'), 'utf8')).trim()
    await desk.goto(`${controller().ready.console}/#key=${key}`)
    const row = desk.getByRole('listitem').filter({ hasText: 'was refused: 127.0.0.1 (Portal)' })
    await row.getByText(/^\d+ calls since/).waitFor()
    await row.getByRole('link', { name: 'Open the setting' }).focus()
    await desk.keyboard.press('Enter')
    const toggle = desk.getByRole('switch', { name: 'Answer older clients' })
    await toggle.and(desk.locator(':focus')).waitFor({ state: 'attached' })
    await desk.keyboard.press('Space')
    await desk.getByRole('form', { name: 'Older clients' }).getByRole('button', { name: 'Save' }).click()
    await desk.getByText('The settings were saved').first().waitFor()
    expect(await violations(desk)).toEqual([])
    expect((await controller().rpc('settings.get', {})).compatibility.older_clients).toBe(true)
    await desk.close()
  })

  test('the token for a secret in the URL has its own switch', async () => {
    await turn({ older_clients: true })
    expect(await outcome(await script(trade('callback=?&')))).toMatchObject({ failed: {} })
    await controller().rpc('settings.set', { compatibility: { get_access_token: true } })
    const { data } = await outcome(await script(trade('callback=?&')))
    expect(data).toEqual({ accessToken: expect.any(String) })
  })

  test('SDK 2.5 works unmodified: scripts of one origin, from its token to the end of the room, with a camera', async () => {
    await turn({ older_clients: true, get_access_token: true })
    const token = String((await outcome(await script(trade('callback=?&')))).data?.accessToken)
    const info = await inPage('ownScript', base() + init(plainInfo(token)))
    expect(info).toMatchObject({ ret: 0, ice_servers: [], rest_uri: new URL(base()).host })
    expect((info.room_server as Answer).uri).toBe(node())

    const { ret, room_id } = await script(createRoom(token))
    expect(ret).toBe(0)
    const roomId = String(room_id)
    expect(await inPage('ownScript', `${base()}/sdk/get_mcu?room_id=${roomId}&token=${token}`)).toEqual({
      ret: 0,
      addr: (info.room_server as Answer).uri,
    })
    const options = JSON.stringify({ login_name: login.user, login_password: login.password, assist_address: '' })
    const created = await script(`${outgoing}/createOutgoingUser?${createUser(token, roomId, options)}`)
    expect(await outcome(created)).toEqual({ data: { roomId, userId: 'js_outgoing:20217' } })
    // The camera's media flows: it is among the users of the room.
    expect(await script(`/rtc/room/get_room_info?room_id=${roomId}&access_tocken=${token}`)).toMatchObject({
      user_list: [{ user_id: 'js_outgoing:20217' }],
    })
    // The list has the SDK's field names, a second device of that name is refused with a reason, and the device is removed.
    const { data } = await outcome(await script(`${outgoing}/getOutgoingUsers?roomId=${roomId}&accessToken=${token}`))
    expect(data?.total).toBe(1)
    const [item = {}] = data?.items ?? []
    expect(item).toMatchObject({
      room_id: roomId,
      user_id: 'js_outgoing:20217',
      user_name: 'js_outgoing:20217',
      user_address: camera().url,
    })
    const again = await script(`${outgoing}/createOutgoingUser?${createUser(token, roomId, '')}`)
    expect(await outcome(again)).toEqual({ failed: { code: 423, reason: expect.stringMatching(/\S/) } })
    expect(
      await outcome(await script(`${outgoing}/destroyOutgoingUser?${destroyUser(token, item)}`)),
    ).not.toHaveProperty('failed')
    expect(await script(`/rtc/room/del?callback=test&access_tocken=${token}&room_id=${roomId}`)).toEqual({
      ret: 0,
      room_id: roomId,
    })
  })

  test('SDK 3.6 works unmodified: XMLHttpRequest across origins, forms and JSON with their preflights, options in single quotes', async () => {
    await turn({ older_clients: true, get_access_token: true })
    const token = String((await outcome(await ajax(trade()))).data?.accessToken)
    const info = await ajax(init(escapedInfo(token)))
    expect(info.ret).toBe(0)
    const rest = `http://${String(info.rest_uri)}`
    expect(rest).toBe(base())
    const { room_id } = await ajax(`/rtc/room/create?topic=&owner_id=&room_mode=1&access_token=${token}`)
    const roomId = String(room_id)
    const mcu = await ajax(`/sdk/get_mcu?room_id=${roomId}&token=${token}&options=undefined`)
    expect(mcu).toEqual({ ret: 0, addr: node() })

    const options = `{'login_name':'${login.user}','login_password':'${login.password}','assist_address':''}`
    const created = await ajax(`${outgoing}/createOutgoingUser`, createUser(token, roomId, options), form)
    expect(await outcome(created)).toEqual({ data: { roomId, userId: 'js_outgoing:20217' } })
    const asked = JSON.stringify({ roomId, accessToken: token })
    const { data } = await outcome(await ajax(`${outgoing}/getOutgoingUsers`, asked, 'application/json; charset=UTF-8'))
    const [item = {}] = data?.items ?? []
    expect(item).toMatchObject({ room_id: roomId, user_id: 'js_outgoing:20217', user_address: camera().url })
    expect(
      await outcome(await ajax(`${outgoing}/destroyOutgoingUser`, destroyUser(token, item), form)),
    ).not.toHaveProperty('failed')
    expect(await ajax(`/rtc/room/del?room_id=${roomId}&access_token=${token}`)).toEqual({ ret: 0, room_id: roomId })
  })

  test('the activity shows each answer without the secrets of its request', async () => {
    await turn({ older_clients: true, get_access_token: true })
    const token = String((await outcome(await ajax(trade()))).data?.accessToken)
    const { room_id } = await ajax(`/rtc/room/create?topic=&owner_id=&room_mode=1&access_token=${token}`)
    const roomId = String(room_id)
    const options = JSON.stringify({ login_name: login.user, login_password: login.password })
    const created = await ajax(`${outgoing}/createOutgoingUser`, createUser(token, roomId, options), form)
    expect(await outcome(created)).toEqual({ data: { roomId, userId: 'js_outgoing:20217' } })
    await ajax(`${outgoing}/getOutgoingUsers`, `roomId=${roomId}&accessToken=${token}`, form)
    await ajax(`/rtc/room/del?room_id=${roomId}&access_token=${token}`)
    const { items } = await controller().rpc('activity.list', {})
    const list = items.find(({ operation, answer }) => operation === 'list_outgoing_users' && answer !== '')
    expect(list?.answer).toContain('"result":0')
    expect(list?.answer).toContain('"user_id":')
    const told = JSON.stringify(items)
    expect(told).not.toContain(credential.secret_key)
    expect(told).not.toContain(encodeURIComponent(credential.secret_key))
    expect(told).not.toContain(login.password)
  })

  test('switched off again, they get the previous answers at once', async () => {
    await turn({ older_clients: true, get_access_token: true })
    const token = String((await outcome(await script(trade()))).data?.accessToken)
    const list = `${outgoing}/getOutgoingUsers?accessToken=${token}`
    expect(await outcome(await script(list))).toEqual({ data: { total: 0, items: [] } })
    await controller().rpc('settings.set', { compatibility: { older_clients: false } })
    expect(await script(list)).toMatchObject({ ret: 408 })
    expect(await script(list, controller().ready.device)).toEqual({ ret: 0, data: { total: 0, items: [] } })
    expect(await script(trade())).toMatchObject({ ret: 408 })
  })
})

/** Serves a foreign site: one page that calls like the SDK, and nothing more. */
async function serveOlderPage(): Promise<Server> {
  const code = await readFile(join(import.meta.dirname, '../support/older-page.js'), 'utf8')
  const server = createServer((request, response) => {
    const isCode = request.url === '/sdk.js'
    response.setHeader('Content-Type', isCode ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isCode ? code : '<!doctype html><title>Meeting</title><script src="/sdk.js"></script>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
