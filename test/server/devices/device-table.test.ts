import { expect, test } from 'vitest'
import { camera, liveSite } from '../../support/sites/live-site.ts'
import { passwordOf } from '../../support/stored-records.ts'

const header = 'roomId,userId,userName,userAddress,userData,login_name,login_password,assist_address'

test('a table is previewed line by line, then applied', async () => {
  const { client, outgoing, deviceTable, store, until } = await liveSite()
  const roomId = await client.createRoom()
  await client.outgoing('createOutgoingUser', camera(roomId, 'same'))
  await client.outgoing('createOutgoingUser', camera(roomId, 'other'))
  const text = [
    header,
    `${roomId},new-1,"Gate, north",rtsp://10.0.0.1/live,,admin,se"cret,`.replace('se"cret', '"se""cret"'),
    `${roomId},same,Camera same,rtsp://10.0.0.8:554/same,,,,`,
    `${roomId},other,Camera other,rtsp://10.0.0.8:554/moved,,,,`,
    `nowhere,new-2,x,rtsp://10.0.0.2,,,,`,
    `${roomId},new-3,x,http://10.0.0.3,,,,`,
    `${roomId},new-1,x,rtsp://10.0.0.4,,,,`,
    `${roomId},,Yard,rtsp://10.0.0.5,,,,`,
    `${roomId},new-4,,rtsp://10.0.0.6,,,,`,
  ].join('\r\n')
  const preview = deviceTable.preview(text)
  expect(preview.map(({ line, action }) => [line, action])).toEqual([
    [2, 'create'],
    [3, 'unchanged'],
    [4, 'update'],
    [5, 'error'],
    [6, 'error'],
    [7, 'error'],
    [8, 'create'],
    [9, 'error'],
  ])
  expect(store.all('devices').size).toBe(2)
  const done = await deviceTable.import(text)
  expect(done.map(({ action }) => action)).toEqual(preview.map(({ action }) => action))
  expect(store.all('devices').size).toBe(4)
  expect(store.get('devices', 'other')).toMatchObject({ userAddress: 'rtsp://10.0.0.8:554/moved' })
  expect(passwordOf(store, 'new-1')).toBe('se"cret')
  await until(() => outgoing.fleet.countByState().joined === 4)
  expect(deviceTable.preview(text)[0]).toMatchObject({ action: 'unchanged' })
})

test('an export holds no password, and importing it unchanged changes nothing', async () => {
  const { client, deviceTable } = await liveSite()
  const roomId = await client.createRoom()
  const options = JSON.stringify({ login_name: '=cmd()', login_password: 'hidden', assist_address: 'rtsp://h/sub' })
  await client.outgoing('createOutgoingUser', { ...camera(roomId, 'cam-1'), userData: 'a,"b"', options })
  const text = deviceTable.export()
  expect(text.split('\r\n')[0]).toBe(`${header},tags`)
  expect(text).not.toContain('hidden')
  expect(text).toContain(`'=cmd()`)
  expect(deviceTable.preview(text).map(({ action }) => action)).toEqual(['unchanged'])
})

test('columns can come in any order, and only three are required', async () => {
  const { client, deviceTable } = await liveSite()
  const roomId = await client.createRoom()
  expect(deviceTable.preview(`useraddress,roomId,userName\nrtsp://10.0.0.1,${roomId},x`)).toMatchObject([
    { line: 2, action: 'create', roomId },
  ])
})

test.each([
  ['', 'empty'],
  ['roomId,userName\n', 'userAddress is missing'],
  ['roomId,userName,userAddress,password\n', 'There is no column "password"'],
  ['roomId,roomId,userName,userAddress\n', 'twice'],
  ['roomId,"userName', 'not closed'],
])('%j is no such table: %s', async (text, words) => {
  const { deviceTable } = await liveSite()
  expect(() => deviceTable.preview(text)).toThrow(words)
})
