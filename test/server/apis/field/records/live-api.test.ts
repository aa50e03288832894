import { expect, test, vi } from 'vitest'
import { parseRaw } from '../../../../support/sites/api-site.ts'
import { filmedSite, shortFilm } from '../../../../support/sites/filmed-site.ts'
import { camera, type LiveSite, liveSite } from '../../../../support/sites/live-site.ts'
import { sendRequest } from '../requests.ts'
import { call, type FieldAnswer, post, postForm } from './field-call.ts'

/** Clients of the original platform stream a user live: the five operations of their live API. */

vi.setConfig({ testTimeout: 60_000 })

/** Ways in which these clients send the same parameters. */
const ways = {
  query: (site: LiveSite, path: string, fields: Record<string, string>) =>
    call(site, { target: `${path}?accessToken=TOKEN&${new URLSearchParams(fields).toString()}` }),
  form: (site: LiveSite, path: string, fields: Record<string, string>) =>
    call(site, postForm(path, `access_token=TOKEN&${new URLSearchParams(fields).toString()}`)),
  json: (site: LiveSite, path: string, fields: Record<string, string>) => call(site, post(path, fields)),
}

const done = { ret: 0, msg: '', result: 0, err: '' }
const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

test.each(Object.entries(ways))(
  'A client streams a camera live, finds, stops and deletes it: by %s',
  async (_way, send) => {
    const site = await filmedSite({ door: shortFilm })
    const { roomId } = site
    const ask = (name: string, fields: Record<string, string>): Promise<FieldAnswer> =>
      send(site, `/avd/api/live/${name}`, fields)
    const types = { audioType: '1', videoType: '1' }
    const created = await ask('createUserLive', { name: '晨会', tag: 'monday', roomId, userId: 'door', ...types })
    expect(created).toEqual({
      ...done,
      data: {
        ...{ id: expect.stringMatching(/^\d+$/), roomId, name: '晨会', status: 0 },
        createTime: expect.stringMatching(time),
        rtmpurl: expect.stringMatching(/\/live\/.*\.m3u8$/),
        hlsurl: created.data.rtmpurl,
      },
    })
    const { id, createTime, hlsurl, rtmpurl } = created.data
    const known = { id, roomId, name: '晨会', createTime, rtmpurl, hlsurl }
    const described = {
      ...{ ...known, description: '', tags: 'monday', userId: 'door', audioType: 1, videoType: 1 },
      ...{ status: 1, duration: expect.any(Number) },
    }
    // Living once the first picture came.
    await expect.poll(async () => (await ask('getLive', { id: String(id) })).data.status, { timeout: 20_000 }).toBe(1)
    expect(await ask('getLive', { id: String(id) })).toEqual({ ...done, data: described })
    await expect.poll(async () => (await fetch(String(hlsurl))).status, { timeout: 20_000 }).toBe(200)
    expect(await (await fetch(String(hlsurl))).text()).toMatch(/^#EXTM3U\n/)

    const find = (filter: object): Promise<FieldAnswer> =>
      ask('findLives', { begin: '0', count: '10', filter: JSON.stringify(filter) })
    const found = { ...done, data: { total: 1, begin: 0, count: 1, items: [described] } }
    expect(await find({ fromTime: '', endTime: '', roomId: '', userId: '' })).toEqual(found)
    expect(await find({ roomId, userId: 'door' })).toEqual(found)
    expect((await find({ userId: 'window' })).data).toEqual({ total: 0, begin: 0, count: 0, items: [] })

    const stopped = await ask('stop', { id: String(id) })
    expect(stopped).toEqual({ ...done, data: { ...known, status: 2, duration: expect.any(Number) } })
    expect((await fetch(String(hlsurl))).status).toBe(404)
    expect((await ask('getLive', { id: String(id) })).data.status).toBe(2)
    expect(await ask('delete', { id: String(id) })).toEqual({ ...done, data: { id, status: 3 } })
    expect(await ask('getLive', { id: String(id) })).toMatchObject({ ret: 430, result: 430 })
    expect((await find({})).data.total).toBe(0)
  },
)

test('Live streams are listed newest first, with the addresses that their clients gave, also by JSONP', async () => {
  const site = await filmedSite({ door: shortFilm, window: shortFilm })
  const { roomId } = site
  const begin = (body: object) => call(site, post('/avd/api/live/createUserLive', { roomId, ...body }))
  const rtmpurl = 'rtmp://cdn.example/live/door'
  const hlsurl = 'https://cdn.example/live/door.m3u8'
  const door = await begin({ userId: 'door', rtmpurl, hlsurl })
  expect(door.data).toMatchObject({ name: '', rtmpurl, hlsurl })
  // Native programs write numbers.
  const window = await begin({ roomId: Number(roomId), userId: 'window', name: 7, videoType: 0 })
  expect(window.data).toMatchObject({ name: '7', roomId })
  const list = async (more: object): Promise<unknown> => {
    const { data } = await call(site, post('/avd/api/live/findLives', more))
    return [data.total, data.items.map(({ userId }) => userId)]
  }
  expect(await list({})).toEqual([2, ['window', 'door']])
  expect(await list({ begin: 1, count: 1, filter: { roomId } })).toEqual([2, ['door']])
  expect(await list({ filter: { fromTime: '2017-01-01', endTime: '2017-05-11' } })).toEqual([0, []])
  const script = await sendRequest(site, {
    ...{ to: 'media', headers: ['Accept: */*'] },
    target: `/avd/api/live/getLive?callback=?&id=${String(window.data.id)}&accessToken=TOKEN&callback=jQuery1_2&_=1`,
  })
  expect(parseRaw(script).body).toMatch(
    /^\/\*\*\/jQuery1_2\(\{"ret":0,"msg":"","result":0,"err":"","data":\{"id":"\d+"/,
  )
  for (const { data } of [door, window]) await call(site, post('/avd/api/live/delete', { id: data.id }))
  expect(await list({})).toEqual([0, []])
})

test('Media that cannot be streamed live is refused in both envelopes, and nothing is left behind', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { roomId } = site
  const begin = (body: object) => call(site, post('/avd/api/live/createUserLive', { roomId, userId: 'door', ...body }))
  const refused = (code: number, text: string) => ({ ret: code, msg: text, result: code, err: text })
  expect(await begin({ roomId: '404404404' })).toEqual(refused(424, 'There is no such room.'))
  expect(await begin({ userId: 'nobody' })).toEqual(refused(425, 'The user is not in this room.'))
  expect(await begin({ userId: '' })).toMatchObject({ ret: 401, result: 401, err: expect.stringContaining('userId') })
  expect(await begin({ audioType: 0, videoType: 0 })).toMatchObject({ ret: 401, result: 401 })
  expect(await begin({ audioType: 3 })).toMatchObject({
    ret: 401,
    err: 'audioType must be a whole number from 0 to 2.',
  })
  expect(await begin({ publishurl: 'http://cdn.example/live' })).toMatchObject({
    result: 401,
    err: expect.stringContaining('rtmp://'),
  })
  expect(await begin({ accessToken: 'old' })).toMatchObject({ ret: 401, result: 401 })
  for (const name of ['stop', 'getLive', 'delete']) {
    expect(await call(site, post(`/avd/api/live/${name}`, { id: 1 }))).toEqual(
      refused(430, 'There is no such recording or live stream.'),
    )
    expect(await call(site, post(`/avd/api/live/${name}`, {}))).toMatchObject({ ret: 401, result: 401 })
  }
  expect(await call(site, post('/avd/api/live/findLives', { filter: '{"fromTime":' }))).toMatchObject({
    err: expect.stringContaining('filter must be a JSON object'),
  })
  expect(site.store.all('lives').size).toBe(0)
  expect(site.recorder.wanted.size).toBe(0)

  const plain = await liveSite()
  const room = await plain.client.createRoom()
  const target = `/avd/api/live/createUserLive?accessToken=TOKEN&roomId=${room}&userId=door`
  expect(await call(plain, { target })).toMatchObject({ ret: 408 })
  plain.settings().compatibility.older_clients = true
  await plain.client.outgoing('createOutgoingUser', camera(room, 'door'))
  expect(await call(plain, { target })).toMatchObject({ ret: 302, result: 302 })
})
