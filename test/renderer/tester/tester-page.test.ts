import { beforeEach, expect, test } from 'vitest'
import TesterPage from '../../../renderer/console/pages/TesterPage.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { choose } from '../choose.ts'
import { fieldOf, operator, pageText, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

let client: ConsoleClient
beforeEach(async () => {
  client = await operator()
  await client.call('credentials.create', { label: 'Lobby', access_key: 'lobby', secret_key: 'lobby-secret' })
})

test('a client authenticates with the first credential, and both sides are shown', async () => {
  show(TesterPage, client)
  await says('Its access_key and digest are added for you')
  await press('Send')
  await says('ret 0: success')
  await says('GET /rtc/auth/valid?access_key=lobby&digest=******')
  await says("curl 'http://127.0.0.1:")
})

test('a room is created, and the next operation uses it', async () => {
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'create_room')
  await write('topic', 'Morning')
  await write('owner_id', 'ann')
  await write('room_mode', '1')
  await press('Send')
  await says('ret 0: success')
  const [room] = (await client.call('rooms.list', {})).items
  expect(room).toMatchObject({ topic: 'Morning', owner_id: 'ann' })
  await choose('Operation', 'get_room')
  expect((await fieldOf('room_id')).value).toBe(room?.room_id)
})

test('room, user and token carry over from call to call, and known values are offered', async () => {
  const { room_id } = await client.call('rooms.create', { topic: 'Yard' })
  await client.call('lab.join', { room_id, user_id: 'ann', user_name: 'Ann' })
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'list_users')
  const field = await fieldOf('room_id')
  field.dispatchEvent(new Event('focus'))
  const offered = (id: string) => [...document.querySelectorAll<HTMLOptionElement>(`[id="${id}-known"] option`)]
  await eventually(() =>
    expect(offered(field.id).map((one) => [one.value, one.getAttribute('label')])).toEqual([[room_id, 'Yard']]),
  )
  await write('room_id', room_id)
  await press('Send')
  await says('ret 0: success')
  await choose('Operation', 'list_outgoing_users')
  expect((await fieldOf('roomId')).value).toBe(room_id)
  await choose('Operation', 'force_offline')
  const user = await fieldOf('user_id')
  user.dispatchEvent(new Event('focus'))
  await eventually(() => expect(offered(user.id).map(({ value }) => value)).toEqual(['ann']))
  await write('user_id', 'ann')
  await press('Send')
  await eventually(() => expect(document.querySelectorAll('.history li')).toHaveLength(2))
  await choose('Operation', 'destroy_outgoing_user')
  expect((await fieldOf('userId')).value).toBe('ann')
})

test('the token of one call is available for the next without a credential', async () => {
  await client.call('settings.set', { compatibility: { older_clients: true, get_access_token: true } })
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'get_access_token')
  await press('Send')
  await says('ret 0: success')
  await choose('Credential', 'None: send without a token')
  await choose('Operation', 'list_users')
  expect((await fieldOf('access_token')).value).not.toBe('')
  await write('room_id', '404404')
  await press('Send')
  await says('ret 404: room not found')
})

test('a value that the API will refuse is marked at its field and can still be sent', async () => {
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'create_room')
  await write('topic', 'Morning')
  await write('owner_id', 'ann')
  await write('room_mode', '9')
  await press('Send')
  await says('A whole number from 1 to 4')
  await says('ret 407: parameter error')
  expect(pageText()).toContain('You can send it anyway')
})

test('operations for older clients are listed with the others and show the required switch while it is off', async () => {
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'server_info')
  await says('Currently refused: "Older clients" is off.')
  expect(document.querySelector('a[href$="compatibility.older_clients"]')?.textContent).toBe('Open the setting')
  await press('Send')
  await says('ret 408')
  await client.call('settings.set', { compatibility: { older_clients: true } })
  await eventually(() => expect(pageText()).not.toContain('Currently refused'))
  await press('Send')
  await says('ret 0: success')
  await choose('Operation', 'get_access_token')
  await says('Currently refused: getAccessToken is off.')
  await client.call('settings.set', { compatibility: { get_access_token: true } })
  await eventually(() => expect(pageText()).not.toContain('Currently refused'))
  await press('Send')
  await says('accessKey=lobby&secretKey=******')
  await says('ret 0: success')
  expect(pageText()).not.toContain('lobby-secret')
  expect(pageText()).toContain('Copied code contains the secret key')
})

test("an earlier request is opened from the history, with the form's values at the time", async () => {
  show(TesterPage, client)
  await says('Its access_key')
  await choose('Operation', 'get_room')
  await write('room_id', '404404')
  await press('Send')
  await says('ret 404: room not found')
  await choose('Operation', 'authenticate')
  await press('Send')
  await says('ret 0: success')
  const rows = [...document.querySelectorAll<HTMLButtonElement>('.history li button')]
  expect(rows).toHaveLength(2)
  rows[1]?.click()
  await says('ret 404: room not found')
  expect((await fieldOf('room_id')).value).toBe('404404')
})

test('a missing answer is shown with its reason', async () => {
  await client.call('lab.set_faults', { rules: [{ operation: 'authenticate', drop: true }] })
  show(TesterPage, client)
  await says('Its access_key')
  await press('Send')
  await says('the connection was closed')
  await eventually(() => expect(document.querySelectorAll('.history li')).toHaveLength(1))
})
