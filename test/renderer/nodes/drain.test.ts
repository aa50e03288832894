import { expect, onTestFinished, test } from 'vitest'
import { mount } from '@vue/test-utils'
import DrainProgress from '../../../renderer/console/pages/nodes/DrainProgress.vue'
import { nodeSentence } from '../../../renderer/console/pages/nodes/nodeSentences.ts'
import { i18n, installTexts } from '../../../renderer/console/i18n/index.ts'
import { nodeConfigSchema } from '../../../shared/node.ts'
import type { NodeView } from '../../../shared/domain/nodes.ts'

const minute = 60_000

const draining = (rooms_left: number, name = 'a', drain = { rooms: 0, people_left: rooms_left }): NodeView => ({
  config: nodeConfigSchema.parse({ name, kind: 'simulated' }),
  secrets: [],
  state: 'draining',
  draining: true,
  rooms: rooms_left,
  users: 0,
  devices: 0,
  pulls: 0,
  rooms_left,
  drain: { ...drain, since: Date.now() - 5 * minute },
  last_error: '',
  since: 0,
  program: null,
  unsteady: null,
  drift: { counts: { roomMissing: 0, roomUnknown: 0, cameraMissing: 0, cameraUnknown: 0 }, last: null },
  version: '',
})

/** Fill of the bar in percent; undefined: no bar. */
function show(node: NodeView) {
  const shown = mount(DrainProgress, { props: { node }, global: { plugins: [{ install: installTexts }] } })
  onTestFinished(() => shown.unmount())
  const percent = (): string | undefined => /width: ([\d.]+)%/.exec(shown.html())?.[1]
  return { shown, percent, goOn: (next: NodeView) => shown.setProps({ node: next }) }
}

test('a drain progresses as rooms empty, never beyond its end, and says when it is done', async () => {
  const { shown, percent, goOn } = show(draining(4))
  expect([shown.text().includes('4 rooms'), percent()]).toEqual([true, '0'])
  await goOn(draining(1))
  expect(percent()).toBe('75')
  // A room that was empty has users again.
  await goOn(draining(6))
  expect(percent()).toBe('0')
  await goOn(draining(0))
  expect([shown.text().includes('Empty'), percent()]).toEqual([true, undefined])
})

test('the drain shows how many users remain and since when, relative to their number at the start', async () => {
  const { shown, percent, goOn } = show(draining(2, 'a', { rooms: 8, people_left: 1 }))
  expect(shown.text()).toContain('2 rooms left · 1 person · for 5 min')
  expect(percent()).toBe('75')
  await goOn(draining(2, 'a', { rooms: 8, people_left: 0 }))
  expect(shown.text()).toContain('Only cameras are left')
})

test('another node has its own progress', async () => {
  const { percent, goOn } = show(draining(8))
  await goOn(draining(2))
  await goOn(draining(4, 'b'))
  expect(percent()).toBe('0')
})

test('a drain can be ended at any time, and an empty node can be disabled', async () => {
  const { shown, goOn } = show(draining(2))
  await shown.get('button').trigger('click')
  await goOn(draining(0))
  await shown.findAll('button')[0]?.trigger('click')
  expect(shown.emitted('act')).toEqual([['undrain'], ['disable']])
})

test("the error of a node is shown in the operator's language", () => {
  const t = (key: string, values?: object) => i18n.global.t(key, { ...values })
  expect(nodeSentence('The node did not answer within 2.5 s.', t)).toBe('The node did not answer within 2.5 s.')
  expect(nodeSentence('The connection to the node failed: there is no driver for nodes of kind janus here.', t)).toBe(
    'This controller does not support nodes of kind janus.',
  )
  const refused = 'The node refused: its admin_url is missing: rooms are made through it.'
  expect(nodeSentence(refused, t)).toBe(
    'The node refused the request: the address of its Admin API is missing, which is needed to create rooms.',
  )
  expect(nodeSentence('The connection to the node failed: connect ECONNREFUSED 127.0.0.1:8188.', t)).toBe(
    'The connection to the node failed: the port is closed.',
  )
  expect(nodeSentence('Something new.', t)).toBe('Something new.')
})
