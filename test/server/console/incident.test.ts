import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ProcedureInput, ProcedureName } from '../../../shared/console/contract.ts'
import { labRun } from '../../support/lab/lab-run.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

async function opened() {
  const on = await controllerSite({ nodes: [{ name: 'Lab 1', kind: 'simulated' }] })
  const key = await on.key()
  const call = <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => on.call(key, name, input)
  /** Runs a bundled scenario on the site, so that something happens there. */
  const story = async (name: string): Promise<void> => {
    const { text } = await call('scenarios.text', { name })
    await call('scenarios.start', { text, pace: 0 })
    await expect.poll(async () => (await call('scenarios.list', {})).run?.state, { timeout: 30_000 }).toBe('done')
  }
  return { call, story }
}

/** Runs the file of an incident on a site of its own. */
async function verdictOf(text: string) {
  const file = join(await temporaryFolder(), 'incident.json')
  await writeFile(file, text)
  return await labRun(file)
}

test.each(['first-day', 'camera-lies', 'full-room', 'camera-comes-and-goes', 'expired-token'])(
  'An incident after %s is a scenario without secrets, in which the same happens again',
  async (name) => {
    const { call, story } = await opened()
    const from = Date.now()
    await story(name)
    const incident = await call('scenarios.incident', { from, to: Date.now() + 60_000 })
    expect(incident.text).not.toMatch(/lab_secret|lab_client|secret-password/)
    const verdict = await verdictOf(incident.text)
    expect(verdict.steps.filter(({ outcome }) => outcome !== 'holds')).toEqual([])
    expect(verdict.steps).toHaveLength(incident.steps)
    expect(incident.steps).toBeGreaterThan(4)
  },
)

test('A camera and a person who came before the stretch are there from its beginning', async () => {
  const { call } = await opened()
  const { room_id } = await call('rooms.create', { topic: 'Yard ${x}' })
  await call('lab.join', { room_id, user_id: 'ann', user_name: 'Ann' })
  const device = { roomId: room_id, userId: 'cam', userName: 'Gate', userAddress: 'rtsp://admin:se:cret@10.0.0.7/av0' }
  await call('devices.create', { ...device, join: 'required' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  const from = Date.now()
  await call('lab.lose_device', { userId: 'cam', kind: 'stalled' })
  await call('lab.leave', { room_id, user_id: 'ann' })
  const incident = await call('scenarios.incident', { from, to: Date.now() })
  expect(incident.text).not.toContain('se:cret')
  const verdict = await verdictOf(incident.text)
  expect(verdict.steps.map(({ say, outcome }) => `${String(say)} ${String(outcome)}`)).toEqual([
    'The room “Yard $ {x}” is created. holds',
    'The camera “Gate” joins. holds',
    '“Ann” joins. holds',
    'The camera “cam” is lost (stalled). holds',
    'A person leaves. holds',
  ])
})

test('A room that was made after another one was deleted is not taken for a third one', async () => {
  const { call } = await opened()
  const from = Date.now()
  const [one, other] = [await call('rooms.create', { topic: 'One' }), await call('rooms.create', { topic: 'Other' })]
  await call('rooms.delete', { room_ids: [one.room_id] })
  await call('rooms.create', { topic: 'Third' })
  await call('rooms.delete', { room_ids: [other.room_id] })
  const incident = await call('scenarios.incident', { from, to: Date.now() })
  const { steps } = JSON.parse(incident.text) as { steps: { keep?: object; params: { room_id?: string } }[] }
  const [first, second, , third] = steps.filter(({ keep, params }) => keep ?? params.room_id)
  expect(new Set([first, second, third].map((step) => Object.keys(step?.keep ?? {})[0])).size).toBe(3)
  expect(steps.at(-1)?.params.room_id).toBe(`\${${Object.keys(second?.keep ?? {})[0]}}`)
  expect((await verdictOf(incident.text)).steps.filter(({ outcome }) => outcome !== 'holds')).toEqual([])
})

test('A stretch without anything, and one from its end to its start, are refused with a sentence', async () => {
  const { call } = await opened()
  await expect(call('scenarios.incident', { from: 1_000, to: 2_000 })).rejects.toThrow('Nothing happened')
  await expect(call('scenarios.incident', { from: 2_000, to: 1_000 })).rejects.toThrow('Nothing happened')
})
