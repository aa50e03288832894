import { expect, test } from 'vitest'
import { h } from 'vue'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import RecordingSection from '../../../renderer/console/components/recording/RecordingSection.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import RecordingRulesCard from '../../../renderer/console/pages/settings/RecordingRulesCard.vue'
import RecordingStatusCard from '../../../renderer/console/pages/settings/RecordingStatusCard.vue'
import { operator, pageText, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

/** Chooses an option of the select that has it. */
async function choose(text: string): Promise<void> {
  const option = await eventually(() => {
    const found = [...document.querySelectorAll('option')].find((one) => one.textContent?.trim() === text)
    if (!found) throw new Error(`there is no option "${text}"`)
    return found
  })
  option.selected = true
  option.closest('select')?.dispatchEvent(new Event('change'))
}

test('An operator asks for a recording of a room, sees why it waits, and stops it', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  show(() => [h(RecordingSection, { roomId: room_id, name: 'Board' }), h(ConfirmHost)], client)
  await says('Not recorded now')
  await says('Rule: Site default (Manually only)')
  await press('Record room')
  await says('Everyone in the room sees and hears that.')
  await press('Record')
  await says('Not recorded: nobody is present')
  expect((await client.call('recordings.states', {})).items).toMatchObject([{ room_id, by: 'operator' }])
  await press('Stop recording')
  await says('Not recorded now')
  await showLanguage('de')
  await says('Wird gerade nicht aufgezeichnet')
  await showLanguage('en')
})

test('The panel of a camera says that it is recorded with its room, and offers a recording of its own', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  show(RecordingSection, client, { roomId: room_id, userId: 'gate', name: 'Gate' })
  await says('Not recorded now')
  await client.call('recordings.start', { room_id })
  await says('With its room: Not recorded: nobody is present')
  await press('Record')
  await eventually(() => expect(pageText()).not.toContain('With its room'))
  await says('Stop recording')
})

test('A camera that is not joined is not recorded, whatever is recorded of its room', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  await client.call('recordings.start', { room_id })
  show(RecordingSection, client, { roomId: room_id, userId: 'gate', name: 'Gate', unjoined: true })
  await says('Not recorded: not joined')
  expect(pageText()).not.toContain('With its room')
  await showLanguage('zh')
  await says('未录制：未加入')
  await showLanguage('en')
})

test('A room on a node that cannot record says so and offers nothing', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  await client.call('lab.join', { room_id, user_id: 'ann', user_name: 'Ann' })
  show(RecordingSection, client, { roomId: room_id, name: 'Board' })
  await says('Recording needs an embedded media node; this room is on lab.')
  expect(pageText()).not.toContain('Record room')
})

test('An operator gives a room a rule of its own, and takes it back', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  const hours = [{ days: [1, 2], from: '22:00', to: '06:00', zone: 'Europe/Berlin' }]
  await client.call('recordings.set_rule', { room_id, rule: { when: 'hours', hours } })
  show(RecordingSection, client, { roomId: room_id, name: 'Board' })
  await says('Rule: Mon and Tue, 22:00 to 06:00 (Europe/Berlin)')
  await press('Change rule')
  await says('Earlier than “From”: over midnight.')
  await choose('While people are in the room')
  await press('Save')
  await says('Rule: While people are in the room')
  expect((await client.call('recordings.rule', { room_id })).rule).toEqual({ when: 'occupied' })
  await press('Change rule')
  const site = await eventually(() => {
    const found = document.querySelector<HTMLInputElement>('dialog input[type="radio"]')
    if (!found) throw new Error('the dialog is not open')
    return found
  })
  site.click()
  await press('Save')
  await says('Rule: Site default (Manually only)')
})

test('A viewer sees the rule and may not change it', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Board' })
  show(RecordingSection, client.as({ role: 'viewer' }), { roomId: room_id, name: 'Board' })
  await says('Rule: Site default (Manually only)')
  for (const act of ['Record room', 'Change rule']) expect(pageText()).not.toContain(act)
})

test('An admin sets the rules of the site, and sees the folder and its space', async () => {
  const client = await operator()
  show(() => [h(RecordingStatusCard), h('div', { class: 'card' }, h(RecordingRulesCard))], client)
  await says('stay free')
  await says('0 B in 0 segments')
  await write('Days kept', '30')
  document.querySelector('input[type="number"]')?.dispatchEvent(new Event('change'))
  await choose('Always')
  await press('Save')
  await eventually(async () => {
    const { recording } = await client.call('settings.get', {})
    expect(recording).toMatchObject({ cameras: { when: 'always' }, rooms: { when: 'never' }, retention: { days: 30 } })
  })
})
