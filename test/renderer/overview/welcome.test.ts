import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import RoomPresence from '../../../renderer/console/pages/welcome/RoomPresence.vue'
import { provideFirstRun } from '../../../renderer/console/pages/welcome/useFirstRun.ts'
import WelcomePage from '../../../renderer/console/pages/WelcomePage.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { fieldOf, operator, pageText, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const current = (): string => document.querySelector('[aria-current="step"] .name')?.textContent ?? 'no step is current'
const at = (step: string): Promise<void> => eventually(() => expect(current()).toBe(step))
const ticks = () => [...document.querySelectorAll('ol.parts > li')].map((part) => part.querySelector('.done') !== null)

async function choose(title: string): Promise<void> {
  await eventually(() => {
    const card = [...document.querySelectorAll('label')].find(
      (one) => one.querySelector('strong')?.textContent === title,
    )
    const input = card?.querySelector('input')
    if (!input) throw new Error(`there is no choice "${title}": ${pageText().slice(0, 1_000)}`)
    input.click()
  })
}

test('The first run of a lab leads to a credential, a call, a room and a camera, and ticks completed steps, also those of another console', async () => {
  const client = await operator()
  show(WelcomePage, client)
  await says('What will Roomdesk be used for?')
  await choose('Lab')
  await press('Next')
  await at('API')
  await eventually(() => expect(ticks()).toEqual([true, false, false]))
  await press('Create credential')
  await eventually(() => expect(ticks()).toEqual([true, true, false]))
  const [credential] = await client.call('credentials.list')
  await client.call('tester.send', {
    api: 'media',
    operation: 'authenticate',
    access_key: credential?.access_key ?? '',
    params: {},
  })
  await says('Received: authenticate')
  expect(ticks()).toEqual([true, true, true])
  await press('Next')
  await at('Room')
  await write('Name of the room', 'Yard')
  await press('Create room')
  await eventually(async () => expect((await client.call('first_run.get')).room?.topic).toBe('Yard'))
  const [room] = (await client.call('rooms.list', {})).items
  await press('Next')
  await at('Camera')
  // Another console adds the camera.
  const { userId } = await client.call('first_run.add_camera', { userName: 'Gate', userAddress: 'rtsp://10.0.0.1' })
  await says('Gate is in the room')
  await press('Next')
  await says('What stands now.')
  await says('Yard')
  expect(await client.call('first_run.get')).toMatchObject({
    step: 'done',
    camera: userId,
    room: { room_id: room?.room_id },
  })
  // It has ended: the console begins with the overview from now on.
  await eventually(async () => expect((await client.call('overview.get')).fresh).toBe(false))
})

test('The first run continues at its last step, keeps created objects, and notices deleted ones', async () => {
  const client = await operator()
  const first = show(WelcomePage, client)
  await choose('Try it out')
  await press('Next')
  await at('Room')
  expect((await fieldOf('Name of the room')).value).toBe('First room')
  await press('Create room')
  await eventually(async () => expect((await client.call('first_run.get')).room).not.toBe(null))
  first.unmount()

  show(WelcomePage, client)
  await at('Room')
  await press('Next')
  await at('Camera')
  await press('Back')
  await at('Room')
  await write('Name of the room', 'Workshop')
  await press('Rename and continue')
  await at('Camera')
  const { items } = await client.call('rooms.list', {})
  expect(items.map(({ topic }) => topic)).toEqual(['Workshop'])
  window.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', altKey: true }))
  await at('Room')
  await client.call('rooms.delete', { room_ids: items.map(({ room_id }) => room_id) })
  await eventually(() => expect(pageText()).toContain('Create another room'))
  await press('Skip this step')
  await at('Camera')
  await says('The room was deleted meanwhile. Create another one, or restore it from the trash.')
  await press('Create another room')
  await at('Room')
})

test('A phone whose user waits to be admitted is shown beside the code of the room, with the way to admit them', async () => {
  const site = await operator()
  const { room_id } = await site.call('rooms.create', { topic: 'Yard', waiting_room: true })
  const ann = { room_id, topic: 'Yard', user_id: 'a', user_name: 'Ann', since: 1 }
  const admitted: unknown[] = []
  const call = (name: ProcedureName, input: never): unknown => {
    if (name === 'waiting.list') return Promise.resolve({ items: [ann, { ...ann, room_id: 'other' }], total: 2 })
    if (name !== 'waiting.admit') return site.call(name, input)
    admitted.push(input)
    return Promise.resolve({ people: [ann], refusal: null })
  }
  const step = defineComponent(() => {
    const { texts, run } = provideFirstRun()
    return () => texts.value && run.value && h(RoomPresence, { roomId: room_id })
  })
  show(step, { ...site, call } as ConsoleClient)
  await says('Ann is waiting to be let into “Yard”')
  expect(pageText()).not.toContain('No phone has joined yet')
  await press('Let in')
  await eventually(() => expect(admitted).toEqual([{ room_id, user_id: 'a' }]))
})
