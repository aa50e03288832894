import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Controller } from '../../../server/controller/controller.ts'
import { createLog } from '../../../server/observe/log.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { ApiClient } from '../../support/api-client.ts'

/** A password as people choose them: letters, digits, a sign. */
const password = 'Tr0ub4dor.Pw9'
const credential = { access_key: 'lobby', secret_key: 'the secret of the lobby', label: 'Lobby', p2p: true }

let controller: Controller
let folder: string
let api: ApiClient
const logged: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-secrets-'))
  const keep = { write: (line: string) => void logged.push(line) }
  controller = await Controller.open({
    dataFolder: folder,
    logger: createLog('trace', keep),
    version: 'test',
    site: siteFileSchema.parse({
      credentials: [credential],
      nodes: [{ name: 'lab', kind: 'simulated' }],
      settings: { access: { failures_per_minute: 0 } },
    }),
    overrides: { media_port: 0, device_port: 0, node_port: 0, console_port: 0 },
    consolePage: folder,
  })
  await controller.start()
  api = new ApiClient(
    { media: controller.listeners.url('media'), device: controller.listeners.url('device') },
    credential,
  )
  await api.authenticate()
  await api.createRoom({ room_extend_id: '4711' })
})
afterAll(async () => {
  await controller.stop()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  await call('activity.clear')
  logged.length = 0
})

async function call(name: ProcedureName, input: unknown = {}): Promise<unknown> {
  const result = await controller.dispatch(name, input, { transport: 'internal', client: '', role: 'admin' })
  if (!result.ok) throw new Error(`${name}: ${result.error.message}`)
  return result.value
}

/** Procedures that read without changes. */
const reading: readonly ProcedureName[] = [
  ...(['overview.get', 'overview.samples', 'licence.get', 'settings.get', 'tls.info', 'backups.list'] as const),
  ...(['credentials.list', 'rooms.list', 'nodes.list', 'devices.list', 'devices.export', 'media.stats'] as const),
  ...(['activity.list', 'activity.export', 'tester.operations', 'lab.state', 'lab.faults'] as const),
]

/** Collects everything that can be read: all reading procedures, the activity and its export, the log, the metrics, every file. */
async function readable(): Promise<string> {
  const texts: unknown[] = [...logged]
  for (const name of reading) texts.push(await call(name))
  const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
  for (const path of ['/metrics', '/healthz']) {
    const answer = await fetch(`${controller.listeners.url('console')}${path}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(answer.status).toBe(200)
    texts.push(await answer.text())
  }
  for (const { parentPath, name } of (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )) {
    // A file that is being replaced is gone by now.
    if (!name.endsWith('.tmp')) texts.push(await readFile(join(parentPath, name), 'latin1'))
  }
  return texts.map((text) => (typeof text === 'string' ? text : JSON.stringify(text))).join('\n')
}

/** Expects that no readable text contains the secret, in plain, encoded, or in part. */
async function expectUnseen(secret: string): Promise<void> {
  const text = (await readable()).toLowerCase()
  const spellings = [secret, encodeURIComponent(secret), encodeURI(secret), JSON.stringify(secret).slice(1, -1)]
  for (const spelling of spellings) expect(text).not.toContain(spelling.toLowerCase())
}

const item = { roomId: 'room-9', userId: 'camera-1', userName: 'Camera' }
const address = (userAddress: string) => () => api.outgoing('createOutgoingUser', { ...item, userAddress })
const options = (value: string) => () =>
  api.outgoing('createOutgoingUser', { ...item, userAddress: 'rtsp://10.0.0.9/live', options: value })
const body =
  (document: unknown, type = 'application/json') =>
  async () => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    await fetch(`${api.device}/avd/api/outgoing/createOutgoingUser`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: text,
    })
  }
const media = (target: string) => async () => void (await fetch(`${api.media}${target}`))
const device = (target: string) => async () => void (await fetch(`${api.device}${target}`))
const named = (name: string) => () => api.get('/rtc/room/get', { room_id: 'nowhere-1', [name]: password })

const spellings: Record<string, () => Promise<unknown>> = {
  // As the login of an address, also in malformed ones.
  'login of rtsp': address(`rtsp://admin:${password}@10.0.0.9/live`),
  'login of rtsps': address(`rtsps://admin:${password}@10.0.0.9:322/live`),
  'login, in capitals': address(`RTSP://admin:${password}@10.0.0.9/live`),
  'login without a name': address(`rtsp://:${password}@10.0.0.9/live`),
  'login, only a name': address(`rtsp://${password}@10.0.0.9/live`),
  'login, encoded twice': address(`rtsp://admin:${password.replace('.', '%2E')}@10.0.0.9/live`),
  'login without scheme': address(`admin:${password}@10.0.0.9/live`),
  'login after rtsp:': address(`rtsp:admin:${password}@10.0.0.9/live`),
  'login after rtsp:/': address(`rtsp:/admin:${password}@10.0.0.9/live`),
  'login after //': address(`//admin:${password}@10.0.0.9/live`),
  'login after a space in the scheme': address(`rtsp ://admin:${password}@10.0.0.9/live`),
  'login after a space': address(`rtsp:// admin:${password}@10.0.0.9/live`),
  'login after a backslash': address(`rtsp:\\\\admin:${password}@10.0.0.9/live`),
  'login of http': address(`http://admin:${password}@10.0.0.9/live`),
  'login of an unknown scheme': address(`cam://admin:${password}@10.0.0.9/live`),
  'login with @ in it': address(`rtsp://admin:p@${password}@10.0.0.9/live`),
  'login with / in it': address(`rtsp://admin:a/${password}@10.0.0.9/live`),
  'login with ? in it': address(`rtsp://admin:a?${password}@10.0.0.9/live`),
  'login with # in it': address(`rtsp://admin:a#${password}@10.0.0.9/live`),
  'login before a name': address(`rtsp://admin:x@${password}/live@camera/`),
  'login without a host': address(`rtsp://admin:${password}@`),
  'login without @': address(`rtsp://admin:${password}`),
  'login as a port': address(`rtsp://10.0.0.9:${password}/live`),
  'login twice': address(`rtsp://admin:${password}@rtsp://admin:${password}@10.0.0.9/`),
  'login of IPv6': address(`rtsp://admin:${password}@[fe80::1%25eth0]/live`),
  'zone of IPv6': address(`rtsp://[fe80::1%25${password}]/live`),
  // In path and query of an address.
  'query password': address(`rtsp://10.0.0.9/live?password=${password}`),
  'query loginpas': address(`rtsp://10.0.0.9/live?loginuse=admin&loginpas=${password}`),
  'query, other name': address(`rtsp://10.0.0.9/live?channel=1&x=${password}`),
  'query, known name': address(`rtsp://10.0.0.9/live?channel=${password}`),
  'query, no name': address(`rtsp://10.0.0.9/live?${password}`),
  fragment: address(`rtsp://10.0.0.9/live#${password}`),
  'path user=…_password=': address(`rtsp://10.0.0.9/user=admin_password=${password}_channel=1_stream=0.sdp`),
  'path user=…&password=': address(`rtsp://10.0.0.9/user=admin&password=${password}&channel=1`),
  'path segments': address(`rtsp://10.0.0.9/live/admin/${password}/ch1`),
  'path matrix': address(`rtsp://10.0.0.9/live;password=${password}`),
  'address within the path': address(`rtsp://10.0.0.9/proxy://admin:${password}@10.0.0.8/live`),
  'address with a space in its path': address(`rtsp://10.0.0.9/live ${password}`),
  'address as a sentence': address(`camera at 10.0.0.9, password ${password}`),
  'address to destroy': () => api.outgoing('destroyOutgoingUser', { ...item, userAddress: `//admin:${password}@h` }),
  // In options.
  'options login_password': options(JSON.stringify({ login_name: 'admin', login_password: password })),
  'options login_name': options(JSON.stringify({ login_name: password })),
  'options, other name': options(JSON.stringify({ pw: password })),
  'options, capitals': options(JSON.stringify({ Login_Password: password })),
  'options, Chinese name': options(JSON.stringify({ 密码: password })),
  'options, as a name': options(JSON.stringify({ [password]: 1 })),
  'options, nested': options(JSON.stringify({ a: [{ b: { c: password } }] })),
  'options assist_address': options(JSON.stringify({ assist_address: `rtsp://10.0.0.9/?pwd=${password}` })),
  'options as a list': options(JSON.stringify(['admin', password])),
  'options as a string': options(JSON.stringify(password)),
  'options as plain text': options(`admin:${password}`),
  'options cut short': options(`{"login_password":"${password}`),
  'options in single quotes': options(`{'login_password':'${password}'}`),
  'options of get_mcu': () =>
    api.get('/sdk/get_mcu', { room_id: 'nowhere-1', options: JSON.stringify({ ip_tag: password }) }),
  // In a body.
  'body options': body({ ...item, userAddress: 'rtsp://10.0.0.9/', options: { password } }),
  'body options as text': body({ ...item, userAddress: 'rtsp://10.0.0.9/', options: password }),
  'body options as a list': body({ ...item, userAddress: 'rtsp://10.0.0.9/', options: [password] }),
  'body, unknown field': body({ ...item, camera: { password } }),
  'body, name of a field': body({ [password]: 1, [`${password}2`]: 2 }),
  'body that is no object': body([password]),
  'body cut short': body(`{"options":{"login_password":"${password}`),
  'body form': body(`roomId=1&options=%7B%22pw%22%3A%22${password}%22%7D`, 'application/x-www-form-urlencoded'),
  'body form twice': body(`${password}=1&${password}=2`, 'application/x-www-form-urlencoded'),
  // Under the names of other parameters.
  'as access_key': media(`/rtc/auth/valid?access_key=${password}&digest=x`),
  'as digest': media(`/rtc/auth/valid?access_key=lobby&digest=${password}`),
  'as token': media(`/rtc/room/get?room_id=1&access_token=${password}`),
  'as misspelt token': media(`/rtc/room/get?room_id=1&access_tokken=${password}`),
  'as room_id': () => api.get('/rtc/room/get', { room_id: password }),
  'as roomId of a list': () => api.outgoing('getOutgoingUsers', { roomId: password }),
  'as user_id': () => api.get('/rtc/force_offline_mcu', { room_id: '4711', user_id: password }),
  'as room_mode': () => api.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: password }),
  'as ttl': () => api.get('/rtc/room/join_url', { room_id: '4711', user_id: 'a', user_name: 'b', ttl: password }),
  'as role': () => api.get('/rtc/room/join_url', { room_id: '4711', user_id: 'a', user_name: 'b', role: password }),
  'as userData': () =>
    api.outgoing('createOutgoingUser', { ...item, userAddress: 'rtsp://10.0.0.9/', userData: password }),
  'as topic': () => api.get('/rtc/room/update', { room_id: 'nowhere-1', topic: `rtsp://admin:${password}@h` }),
  'as host_password': () =>
    api.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1, host_password: password }),
  'as callback': media(`/rtc/room/get?room_id=1&callback=${password}-`),
  'as getAccessToken has it': device(`/avd/api/admin/getAccessToken?accessKey=lobby&secretKey=${password}`),
  'under an unknown name': named('comment'),
  'under a Chinese name': named('密码'),
  'under __proto__': named('__proto__'),
  'as a name': media(`/rtc/room/get?room_id=1&${password}`),
  'as a name, twice': media(`/rtc/room/get?room_id=1&${password}=1&${password}=2`),
  'after an & that was not escaped': media(`/rtc/room/get?room_id=1&topic=a&${password}"}=`),
  'in a value that is broken': media(`/rtc/room/get?room_id=${password}%zz`),
  'in a path': media(`/${password}`),
  'in a path of the device API': device(`/avd/api/outgoing/${password}`),
  'in a path, as a login': media(`/admin:${password}/rtc/room/get`),
  'in a path, after a token': media(`/rtc/room/get/access_token=${password}`),
  'in a join page': media(`/jroom/?roomId=${password}`),
  'in a target with a host': media(`/http://admin:${password}@10.0.0.9/rtc/room/get`),
}

const secrets = fc
  .array(fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789-_~!*,'), {
    minLength: 9,
    maxLength: 16,
  })
  .map((letters) => `Zq${letters.join('')}`)
/** Text before and after a secret. */
const spelling = fc.tuple(
  fc
    .tuple(
      fc.constantFrom(
        'rtsp://',
        'rtsps://',
        'RTSP://',
        'rtsp:',
        'rtsp:/',
        '//',
        'rtsp ://',
        'http://',
        '',
        ' ',
        '/',
        '{"a":"',
        '["',
      ),
      fc.constantFrom(
        'admin:',
        ':',
        'a:b:',
        'h/admin:',
        'h/user=admin_password=',
        'h/?password=',
        '10.0.0.9/live?channel=',
        '10.0.0.9/live/',
        'h:',
      ),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('@h/live', '@10.0.0.9:554/', '@', '', '_channel=1', '&channel=1', '/ch1', '"}', '@a@b', ':554/', ' '),
)
const names = [
  'userAddress',
  'options',
  'roomId',
  'userId',
  'userName',
  'userData',
  'accessToken',
  'comment',
  'room_id',
  'access_key',
]
const exchange = '/avd/api/admin/getAccessToken'
const serverInfo = '/sdk/config/serverinfo'
/** Requests of the original platform's clients that contain the secret. */
const ofOlderClients: Record<string, () => Promise<unknown>> = {
  'secretKey of a wrong pair': media(`${exchange}?mcuServerURI=h&accessKey=lobby&secretKey=${password}`),
  'secretKey of nobody': media(`${exchange}?accessKey=nobody&secretKey=${password}`),
  'secretKey, on the device port': device(`${exchange}?accessKey=lobby&secretKey=${password}`),
  'secretKey, as a script': media(`${exchange}?callback=test&accessKey=lobby&secretKey=${password}&callback=f&_=1`),
  'secretKey as accessKey': media(`${exchange}?accessKey=${password}&secretKey=x`),
  'secretKey twice': media(`${exchange}?accessKey=lobby&secretKey=${password}&secretKey=${password}`),
  'secretKey, broken': media(`${exchange}?accessKey=lobby&secretKey=${password}%zz`),
  'secretKey, too long': media(`${exchange}?accessKey=lobby&secretKey=${password.repeat(40)}`),
  'secretKey, longer than any target': media(`${exchange}?accessKey=lobby&secretKey=${password.repeat(900)}`),
  'secretKey under another name': media(`${exchange}?accessKey=lobby&secretkey=${password}&secret=${password}`),
  'secretKey in the path': media(`${exchange}/secretKey=${password}?accessKey=lobby`),
  'secretKey of a path in small letters': media(`/avd/api/admin/getaccesstoken?accessKey=lobby&secretKey=${password}`),
  'secretKey, posted': async () =>
    void (await fetch(`${api.media}${exchange}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `accessKey=lobby&secretKey=${password}`,
    })),
  mcuServerURI: media(`${exchange}?mcuServerURI=http://a:${password}@h&accessKey=lobby&secretKey=x`),
  'token of client_info': media(`${serverInfo}?client_info={%22access_tocken%22:%22${password}%22}`),
  'client_info that is no JSON': media(`${serverInfo}?client_info=${password}`),
  'client_info with other names': media(`${serverInfo}?client_info={'pw':'${password}','${password}':1}`),
  uri_encode: media(`${serverInfo}?uri_encode=${password}`),
  'options in single quotes, taken': () =>
    api.outgoing('createOutgoingUser', {
      ...item,
      roomId: '4711',
      userId: 'taken',
      userAddress: 'rtsp://10.0.0.9/live',
      options: `{'login_name':'admin','login_password':'${password}'}`,
    }),
}

/** Ways to send a text. */
const senders: readonly ((text: string) => Promise<unknown>)[] = [
  ...names.map(
    (name) => (text: string) =>
      api.outgoing('createOutgoingUser', { ...item, userAddress: 'rtsp://10.0.0.9/', [name]: text }),
  ),
  ...names.map((name) => (text: string) => api.get('/rtc/room/update', { room_id: 'nowhere-1', [name]: text })),
  ...names.map((name) => (text: string) => body({ ...item, [name]: text })()),
  ...names.map((name) => (text: string) => body({ ...item, options: { [name]: text, [text]: [text] } })()),
  (text) => media(`/${encodeURIComponent(text)}`)(),
  (text) => device(`/avd/api/outgoing/${encodeURI(text)}?${encodeURIComponent(text)}=1`)(),
]

describe('A secret that a caller sends appears nowhere:', () => {
  test.each(Object.entries(spellings))('%s', async (_name, send) => {
    await send()
    await expectUnseen(password)
  })

  test('in any address, under any name, in any way', () => expectAllUnseen(senders))

  test('in all requests of older clients, while they are not served', () => expectUnseenOfOlderClients())
})

describe('While older clients are served, and may send their secret in a URL, it appears nowhere either:', () => {
  beforeAll(() => call('settings.set', { compatibility: { older_clients: true, get_access_token: true } }))
  afterAll(() => call('settings.set', { compatibility: { older_clients: false, get_access_token: false } }))

  test('secret and token of a valid pair', async () => {
    const { access_key: accessKey, secret_key: secretKey } = credential
    for (const base of [api.media, api.device]) {
      const query = new URLSearchParams({ mcuServerURI: 'rooms.example', accessKey, secretKey })
      const answer = await fetch(`${base}${exchange}?${query.toString()}`)
      const { result, data } = (await answer.json()) as { result: number; data: { accessToken: string } }
      expect(result).toBe(0)
      await expectUnseen(secretKey)
      await expectUnseen(data.accessToken)
      await fetch(`${api.media}${serverInfo}?client_info=${JSON.stringify({ access_tocken: data.accessToken })}`)
      await expectUnseen(data.accessToken)
    }
  })

  test('in all their requests', () => expectUnseenOfOlderClients())

  test('in any address, under any name, in any way', async () => {
    const names = ['mcuServerURI', 'accessKey', 'secretKey', 'client_info', 'uri_encode', 'callback']
    const theirs = names.flatMap((name) => [
      (text: string) => api.get(exchange, { accessKey: 'lobby', secretKey: 'x', [name]: text }),
      (text: string) => api.get(serverInfo, { [name]: text }),
      (text: string) => api.get(serverInfo, { client_info: JSON.stringify({ [name]: text, [text]: 1 }) }, ''),
    ])
    await expectAllUnseen([...senders, ...theirs, ...theirs])
  })
})

async function expectUnseenOfOlderClients(): Promise<void> {
  for (const send of Object.values(ofOlderClients)) await send()
  const { items } = (await call('activity.list')) as { items: unknown[] }
  expect(items).toHaveLength(Object.keys(ofOlderClients).length)
  await expectUnseen(password)
}

/** Sends secrets in these ways and expects that no readable text contains one. */
async function expectAllUnseen(ways: typeof senders): Promise<void> {
  const sent: string[] = []
  await fc.assert(
    fc.asyncProperty(secrets, spelling, fc.constantFrom(...ways), async (secret, [before, after], send) => {
      sent.push(secret)
      await send(`${before}${secret}${after}`)
    }),
    { numRuns: 200 },
  )
  const text = (await readable()).toLowerCase()
  for (const secret of sent) expect(text).not.toContain(secret.toLowerCase())
}

test('Harmless parameters are shown, so that an operator can find the request', async () => {
  await api.get('/rtc/room/get', { room_id: '4711' })
  await api.get('/rtc/room/get', { room_id: 'room-2' })
  await api.outgoing('createOutgoingUser', {
    ...item,
    userAddress: `rtsp://admin:${password}@10.0.0.9/h264/ch1/main/av_stream?channel=1&subtype=0`,
    options: JSON.stringify({
      login_name: 'admin',
      login_password: password,
      assist_address: 'rtsp://cam.example.org/sub',
    }),
  })
  await media(`/rtc/room/creat?topic=x`)()
  await media(`/rtc/auth/valid?access_key=lobby&digest=x`)()
  const { items } = (await call('activity.list')) as { items: Record<string, unknown>[] }
  expect(items).toMatchObject([
    { credential: 'lobby', params: { access_key: 'lobby', digest: '[redacted]' } },
    { path: '/rtc/room/[5 characters]', params: { topic: '[1 character]' } },
    {
      room: 'room-9',
      msg: 'There is no such room.',
      params: {
        roomId: 'room-9',
        userId: 'camera-1',
        userName: '[6 characters]',
        userAddress: 'rtsp://[redacted]@10.0.0.9:554/h264/ch1/main/av_stream?channel=1&subtype=0',
        options: JSON.stringify({
          login_name: 'admin',
          login_password: '[redacted]',
          assist_address: 'rtsp://cam.example.org:554/sub',
        }),
        accessToken: '[redacted]',
      },
    },
    { room: 'room-2', ret: 404, params: { room_id: 'room-2' } },
    { room: '4711', ret: 0, params: { room_id: '4711', access_token: '[redacted]' } },
  ])
})
