import { expect, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import NodePanel from '../../../renderer/console/pages/nodes/NodePanel.vue'
import { useEventText } from '../../../renderer/console/pages/events/useEventText.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { nodeConfigSchema } from '../../../shared/node.ts'
import { answeringConsole } from '../answering-console.ts'
import { pageText, says, show } from '../devices/operator-page.ts'
import type { NodeView } from '../../../shared/domain/nodes.ts'

const nothing = { counts: { roomMissing: 0, roomUnknown: 0, cameraMissing: 0, cameraUnknown: 0 }, last: null }

const janus = (fields: Partial<NodeView> = {}): NodeView => ({
  config: nodeConfigSchema.parse({ name: 'Media 1', kind: 'janus', ws_url: 'ws://10.0.0.7:8188' }),
  secrets: [],
  state: 'online',
  draining: false,
  rooms: 3,
  users: 5,
  devices: 1,
  pulls: 1,
  rooms_left: 0,
  drain: null,
  last_error: '',
  since: Date.now(),
  program: {
    version: '1.1.2',
    plugins: ['streaming', 'videoroom'],
    events: true,
    events_since: Date.now() - 7_500_000,
  },
  unsteady: null,
  drift: nothing,
  version: '',
  ...fields,
})

/** Shows the panel of a node, at a site whose event port is open, or not. */
function panel(node: NodeView, eventPort = 'http://127.0.0.1:7090') {
  const listeners = eventPort === '' ? [] : [{ name: 'event', url: eventPort }]
  const answers: Record<string, unknown> = {
    'overview.get': { listeners, attention: [] },
    'overview.samples': [],
    'account.me': { role: 'admin' },
  }
  return show(
    NodePanel,
    answeringConsole((name) => answers[name]),
    { node, acts: [] },
  )
}

test('a Janus node shows its version, its plugins and that its events arrive, without a test', async () => {
  panel(janus())
  await says('1.1.2')
  await says('streaming, videoroom')
  await says('Received for 2 h')
  await says('None since the controller started')
})

test('a node whose events do not arrive shows the operator what to do', async () => {
  const program = { version: '1.1.2', plugins: ['videoroom'], events: false, events_since: Date.now() }
  const open = panel(janus({ program }))
  await says('Not received for')
  await says('Joins and leaves appear a few seconds late. Install the configuration files on the server.')
  open.unmount()
  panel(janus({ program }), '')
  await says('Open the event port')
  const link = [...document.querySelectorAll('a')].find(({ textContent }) => textContent?.includes('event port'))
  expect(link?.getAttribute('href')).toBe('/settings/network?setting=listeners.event_port')
})

test('drift is shown by kind, with the last finding', async () => {
  const at = Date.now() - 180_000
  const counts = { roomMissing: 12, roomUnknown: 1, cameraMissing: 0, cameraUnknown: 0 }
  panel(janus({ drift: { counts, last: { at, kind: 'roomMissing', count: 12, example: '100' } } }))
  await says('12 rooms were missing and were opened again · last 3 min ago')
  await says('1 room did not belong there and was closed')
  expect(pageText()).not.toContain('camera did not')
})

test('a node that was lost repeatedly says that it gets new rooms last, and for how long', async () => {
  const shown = panel(janus({ unsteady: { until: Date.now() + 240_000, losses: 3 } }))
  await says('Lost 3 times within 10 minutes: other nodes get new rooms first for another')
  await shown.setProps({ node: janus({ unsteady: { until: Date.now() - 60_000, losses: 3 } }) })
  expect(pageText()).not.toContain('within 10 minutes')
})

test('the event log shows each repair with its node, in both languages', async () => {
  let sentence = ''
  const entry = {
    kind: 'node.drifted',
    subject: { type: 'node', id: 'Media 1', name: 'Media 1' },
    params: { found: 'roomMissing', count: 12, example: '100' },
    room: '',
  } as unknown as EventEntry
  const Line = {
    setup() {
      const text = useEventText()
      sentence = text.sentence(entry)
      return () => null
    },
  }
  const client = answeringConsole(() => undefined)
  show(Line, client)
  expect(sentence).toBe('Repaired on node “Media 1”: 12 rooms were missing and were opened again')
  await showLanguage('zh')
  show(Line, client)
  await showLanguage('en')
  expect(sentence).toBe('已在节点“Media 1”上修复：12 个房间缺失，已重新打开')
})
