import { expect, test } from 'vitest'
import ConfirmHost from '../../../renderer/console/components/ConfirmHost.vue'
import NodesPage from '../../../renderer/console/pages/NodesPage.vue'
import NodeDialog from '../../../renderer/console/pages/nodes/NodeDialog.vue'
import { nodeSentence } from '../../../renderer/console/pages/nodes/nodeSentences.ts'
import { i18n } from '../../../renderer/console/i18n/index.ts'
import { fieldOf, operator, pageText, press, says, show, write } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('an operator of a machine with four cores adds three embedded nodes at once, and reads why, where and with what effect', async () => {
  const client = await operator(undefined, {}, 4)
  show(NodesPage, client)
  show(ConfirmHost, client)
  await says('This machine has 4 cores: 3 embedded nodes give the highest capacity.')
  await says('one core is left for the controller')
  const proposal = await client.call('nodes.proposal')
  const ports = proposal.missing.flatMap(({ port }) => (port === 0 ? [] : [port]))
  expect(ports).toHaveLength(2)
  await press('Add 3 nodes')
  await says('Add 3 embedded nodes?')
  await says(`${ports.join(', ')} (TCP and UDP)`)
  const confirm = await eventually(() => {
    const found = document.querySelector<HTMLButtonElement>('[data-confirm]')
    if (!found) throw new Error('nothing is asked')
    return found
  })
  confirm.click()
  await says('of 3 new nodes are online')
  const nodes = await client.call('nodes.list')
  expect(nodes.map(({ config }) => [config.name, config.kind, config.port])).toEqual([
    ['lab', 'simulated', 0],
    ['This machine', 'embedded', 0],
    ['This machine 2', 'embedded', ports[0]],
    ['This machine 3', 'embedded', ports[1]],
  ])
  expect(pageText()).not.toContain('give the highest capacity')
})

test('a further embedded node is proposed with the next free port and a name; a port in use is reported at its field', async () => {
  const client = await operator(undefined, {}, 2)
  await client.call('nodes.add', { name: 'Hall', kind: 'embedded' })
  const { next, most } = await client.call('nodes.proposal')
  expect(most).toBe(1)
  const dialog = show(NodeDialog, client, { modelValue: false })
  await dialog.setProps({ modelValue: true })
  await says('Another embedded node on this machine')
  await says('1 node is enough for the 2 cores of this machine')
  await eventually(async () => expect((await fieldOf('Port')).value).toBe(String(next?.port)))
  expect((await fieldOf('Name')).value).toBe('Hall 2')
  await press('Add node')
  await eventually(() => expect(dialog.emitted('update:modelValue')?.at(-1)).toEqual([false]))
  expect((await client.call('nodes.list')).at(-1)?.config).toMatchObject({ name: 'Hall 2', port: next?.port })

  await dialog.setProps({ modelValue: false })
  await dialog.setProps({ modelValue: true })
  await eventually(async () => expect((await fieldOf('Name')).value).toBe('Hall 3'))
  // That name is for an embedded node: another kind does not get it.
  const choose = (kind: string) => document.querySelector<HTMLInputElement>(`input[value="${kind}"]`)?.click()
  choose('janus')
  await says('None: host and port of the WebSocket address are returned.')
  expect((await fieldOf('Name')).value).toBe('')
  choose('embedded')
  await eventually(async () => expect((await fieldOf('Name')).value).toBe('Hall 3'))
  const port = await fieldOf('Port')
  port.value = String(next?.port)
  port.dispatchEvent(new Event('change', { bubbles: true }))
  await write('Name', 'Third')
  await press('Add node')
  await says(`Port ${next?.port} is used by the node “Hall 2”`)
})

test("a port in use is shown with its owner, in the operator's language", () => {
  const t = (key: string, values?: object) => i18n.global.t(key, { ...values })
  const said = 'The connection to the node failed: Port 7084 on 127.0.0.1 is in use by nginx (process 12).'
  expect(nodeSentence(said, t)).toBe('Port 7084 is in use by nginx (process 12)')
})
