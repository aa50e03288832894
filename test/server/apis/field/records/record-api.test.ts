import { writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { folderHolds } from '../../../../support/recordings/written-media.ts'
import { filmedSite, shortFilm } from '../../../../support/sites/filmed-site.ts'
import { parseRaw } from '../../../../support/sites/api-site.ts'
import { camera, type LiveSite, liveSite } from '../../../../support/sites/live-site.ts'
import { sendRequest } from '../requests.ts'
import { call, type FieldAnswer, post, postForm } from './field-call.ts'

/**
 * Clients of the original platform record a user: native programs post JSON, pages send forms and queries. The recorder writes the films of its users as a node does.
 */

const run = promisify(execFile)
// ffmpeg runs at low priority, beside whatever else runs here.
vi.setConfig({ testTimeout: 120_000 })
async function streamsOf(file: string): Promise<{ codecs: string; seconds: number }> {
  const { stdout } = await run('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'stream=codec_name:format=duration',
    '-of',
    'json',
    file,
  ])
  const { streams, format } = JSON.parse(stdout) as { streams: { codec_name: string }[]; format: { duration: string } }
  return { codecs: streams.map(({ codec_name }) => codec_name).join(' '), seconds: Number(format.duration) }
}

test('A native program records a camera, stops, downloads a file that every player opens, and deletes it, which voids its address', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { roomId } = site
  const created = await call(
    site,
    post('/avd/api/record/createUserRecord', {
      ...{ name: '晨会', tag: 'monday', roomId, userId: 'door' },
      ...{ audioType: 1, videoType: 1, fileType: 0 },
    }),
  )
  expect(created).toMatchObject({ ret: 0, msg: '', result: 0, err: '', data: { id: expect.stringMatching(/^\d+$/) } })
  const { id } = created.data
  const get = (): Promise<FieldAnswer> => call(site, post('/avd/api/record/getRecord', { id }))
  await expect.poll(async () => (await get()).data.status, { timeout: 20_000 }).toBe(1)
  expect((await get()).data).toMatchObject({ url: '', size: 0 })
  await folderHolds(site.recorder.folder, 2_000)
  const stopped = await call(site, post('/avd/api/record/stop', { id }))
  expect(stopped.data).toMatchObject({
    id,
    roomId,
    name: '晨会',
    createTime: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  })
  await expect.poll(async () => (await get()).data.status, { timeout: 60_000 }).toBe(2)
  const { data } = await get()
  expect(data).toEqual({
    ...{ id, status: 2, name: '晨会', description: '', tags: 'monday', userId: 'door', roomId },
    ...{ fileType: 0, audioType: 1, videoType: 1 },
    createTime: stopped.data.createTime,
    duration: expect.any(Number),
    size: expect.any(Number),
    url: expect.stringContaining('/record/'),
  })
  const file = await fetch(String(data.url))
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4'])
  const bytes = Buffer.from(await file.arrayBuffer())
  expect(bytes.length).toBe(data.size)
  const path = join(site.folder, 'downloaded.mp4')
  await writeFile(path, bytes)
  const { codecs, seconds } = await streamsOf(path)
  expect(codecs).toBe('h264 aac')
  expect(seconds).toBeGreaterThan(1.9)
  expect(Math.round(seconds)).toBe(data.duration)

  const part = await fetch(String(data.url), { headers: { range: 'bytes=4-7' } })
  expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
  const guessed = String(data.url).replace(/-[\w-]{4}/, '-AAAA')
  expect((await fetch(guessed)).status).toBe(404)
  expect((await call(site, post('/avd/api/record/delete', { id }))).data).toEqual({ id, status: 3 })
  expect((await fetch(String(data.url))).status).toBe(404)
  expect(await get()).toMatchObject({ ret: 430, result: 430, err: 'There is no such recording or live stream.' })
})

test('Every spelling of parameters is understood: query with a raw filter, form, JSON with numbers, three names of the token, JSONP', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { roomId } = site
  const begin = `name=a&tag=&roomId=${roomId}&userId=door&audioType=1&videoType=1&fileType=0`
  const byQuery = await call(site, { target: `/avd/api/record/createUserRecord?access_token=TOKEN&${begin}` })
  const byForm = await call(site, postForm('/avd/api/record/createUserRecord', `access_tocken=TOKEN&${begin}`))
  const byNumbers = await call(
    site,
    post('/avd/api/record/createUserRecord', { name: 1, roomId: Number(roomId), userId: 'door' }),
  )
  const ids = [byQuery, byForm, byNumbers].map(({ data }) => data.id)
  expect(ids.map(String).filter((id) => /^\d+$/.test(id))).toHaveLength(3)

  const find = async (filter: string, more = 'begin=0&count=10'): Promise<unknown> => {
    const answer = await call(site, {
      target: `/avd/api/record/findRecords?${more}&filter=${filter}&accessToken=TOKEN`,
    })
    return answer.ret === 0 ? [answer.data.total, answer.data.items.map(({ id }) => id)] : answer.err
  }
  const newestFirst = ids.toReversed()
  const today = new Date()
  const day = `${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, '0')}-${String(today.getDate()).padStart(2, '0')}`
  const empty = '{"fromTime":"","endTime":"","roomId":"","userId":""}'
  expect(await find(empty)).toEqual([3, newestFirst])
  expect(await find('')).toEqual([3, newestFirst])
  expect(await find(encodeURIComponent(empty))).toEqual([3, newestFirst])
  expect(await find(`{"fromTime":"${day}","endTime":"${day}","roomId":"${roomId}","userId":"door"}`)).toEqual([
    3,
    newestFirst,
  ])
  expect(await find('{"fromTime":"2017-01-01","endTime":"2017-05-11"}')).toEqual([0, []])
  expect(await find(`{"userId":"window"}`)).toEqual([0, []])
  expect(await find(empty, 'begin=1&count=1')).toEqual([3, [newestFirst[1]]])
  expect(await find('{"fromTime":')).toContain('filter must be a JSON object')
  expect(await find('{"fromTime":"2017-02-30"}')).toContain('filter must be a JSON object')
  const posted = await call(
    site,
    post('/avd/api/record/findRecords', { begin: 0, count: 10, filter: { roomId, endTime: '' } }),
  )
  expect(posted.data).toMatchObject({ total: 3, begin: 0, count: 3 })

  const script = await sendRequest(site, {
    ...{ to: 'media', headers: ['Accept: */*'] },
    target: `/avd/api/record/getRecord?callback=?&id=${String(ids[0])}&accessToken=TOKEN&callback=jQuery1_2&_=1`,
  })
  expect(parseRaw(script).body).toMatch(
    /^\/\*\*\/jQuery1_2\(\{"ret":0,"msg":"","result":0,"err":"","data":\{"id":"\d+"/,
  )
  for (const id of ids) await call(site, post('/avd/api/record/stop', { id }))
})

test('Media that cannot be recorded is refused with a code and a sentence, and nothing is left behind', async () => {
  const site = await filmedSite({ door: shortFilm })
  const { roomId } = site
  const begin = (body: object) =>
    call(site, post('/avd/api/record/createUserRecord', { roomId, userId: 'door', ...body }))
  expect(await begin({ roomId: '404404404' })).toMatchObject({ ret: 424, err: 'There is no such room.' })
  expect(await begin({ userId: 'nobody' })).toMatchObject({ ret: 425, err: 'The user is not in this room.' })
  expect(await begin({ audioType: 0, videoType: 0 })).toMatchObject({
    ret: 401,
    err: 'A recording needs a picture or a sound.',
  })
  expect(await begin({ videoType: 4 })).toMatchObject({
    ret: 401,
    err: 'videoType must be a whole number from 0 to 3.',
  })
  expect(await begin({ accessToken: 'old' })).toMatchObject({ ret: 401 })
  expect(await call(site, post('/avd/api/record/stop', { id: 1 }))).toMatchObject({ ret: 430 })
  expect(site.store.all('recordings').size).toBe(0)
  expect(site.recorder.wanted.size).toBe(0)
  await site.client.outgoing('createOutgoingUser', camera(roomId, 'silent'))
  const { data } = await begin({ userId: 'silent' })
  expect(data.status).toBe(0)
  expect((await call(site, post('/avd/api/record/stop', { id: data.id }))).data.status).toBe(4)
  expect(site.events.filter(({ kind }) => kind === 'room.recordingFailed')).toMatchObject([
    { kind: 'room.recordingFailed', params: { reason: 'No picture or sound came while it was recorded.' } },
  ])
})

test('A site without a recorder says so; with the switch off, the operations do not exist', async () => {
  const site = await liveSite()
  const roomId = await site.client.createRoom()
  const target = `/avd/api/record/createUserRecord?accessToken=TOKEN&roomId=${roomId}&userId=door`
  expect(await call(site, { target })).toMatchObject({ ret: 408 })
  site.settings().compatibility.older_clients = true
  await site.client.outgoing('createOutgoingUser', camera(roomId, 'door'))
  expect(await call(site, { target })).toMatchObject({
    ret: 302,
    err: expect.stringContaining('Recording needs an embedded media node'),
  })
})

test('A recording continues after a restart of the controller, and its file holds both parts', async () => {
  const first = await filmedSite({ door: shortFilm })
  const { data } = await call(first, post('/avd/api/record/createUserRecord', { roomId: first.roomId, userId: 'door' }))
  const status = async (site: LiveSite) =>
    (await call(site, post('/avd/api/record/getRecord', { id: data.id }))).data.status
  await expect.poll(() => status(first)).toBe(1)
  await first.stop()
  first.recorder.wanted.clear()
  const second = await liveSite({ folder: first.folder, recorder: first.recorder })
  second.settings().compatibility.older_clients = true
  expect([...first.recorder.wanted.keys()]).toEqual([`record:${String(data.id)}`])
  expect(await status(second)).toBe(1)
  await call(second, post('/avd/api/record/stop', { id: data.id }))
  await expect.poll(() => status(second), { timeout: 60_000 }).toBe(2)
})

test('The sound of the room is one track of all users, mixed by ffmpeg', async () => {
  const site = await filmedSite({ door: shortFilm, window: { ...shortFilm, codec: 'vp8' } })
  const { data } = await call(
    site,
    post('/avd/api/record/createUserRecord', { roomId: site.roomId, userId: 'door', audioType: 2 }),
  )
  await folderHolds(site.recorder.folder, 2_600)
  const stop = await call(site, post('/avd/api/record/stop', { id: data.id }))
  expect(stop).toMatchObject({ ret: 0 })
  const get = async () => (await call(site, post('/avd/api/record/getRecord', { id: data.id }))).data
  await expect.poll(async () => (await get()).status, { timeout: 60_000 }).toBe(2)
  const file = Buffer.from(await (await fetch(String((await get()).url))).arrayBuffer())
  const path = join(site.folder, 'mixed.mp4')
  await writeFile(path, file)
  const { codecs, seconds } = await streamsOf(path)
  expect(codecs).toBe('h264 aac')
  expect(seconds).toBeGreaterThan(2.5)
})
