import { expect, onTestFinished, test } from 'vitest'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** MCU nodes: added, lost, drained. */
export function nodeStories(opened: () => ConsoleUnderTest): void {
  const pages = (): ConsolePages => new ConsolePages(opened().page)
  const state = (name: string) => () => pages().row(name).innerText()

  /** Adds a simulated node for one test. */
  async function addNode(name: string): Promise<void> {
    await opened().call('nodes.add', { name, kind: 'simulated' })
    onTestFinished(() => removeNode(name))
    await pages().go('MCU nodes')
    await expect.poll(state(name)).toContain('Online')
  }

  /** Removes a node that the test may have removed itself. */
  async function removeNode(name: string): Promise<void> {
    const nodes = await opened().call('nodes.list')
    if (nodes.some(({ config }) => config.name === name)) await opened().call('nodes.remove', { name })
  }

  test('a node is added after a test of its connection', async () => {
    onTestFinished(() => removeNode('Hall 2'))
    await pages().go('MCU nodes')
    await pages().button('Add node').click()
    const form = pages().dialog('Add an MCU node')
    await form.getByText('Simulated', { exact: true }).click()
    await form.getByLabel('Name').fill('Hall 2')
    await form.getByRole('button', { name: 'Test connection' }).click()
    await form.getByText(/^Connected in/).waitFor()
    await form.getByRole('button', { name: 'Add node' }).click()
    await expect.poll(state('Hall 2')).toContain('Online')
  })

  test('a lost node shows the reason on every page, and returns by itself', async () => {
    await addNode('Hall 3')
    await opened().call('lab.node_trouble', { name: 'Hall 3', mode: 'offline' })
    await expect.poll(state('Hall 3')).toContain('Offline')
    await pages().go('Overview')
    await opened().page.getByText('MCU node Hall 3 is offline.').waitFor()
    await opened().call('lab.node_trouble', { name: 'Hall 3', mode: 'none' })
    await opened().page.getByText('MCU node Hall 3 is offline.').waitFor({ state: 'detached' })
    await pages().go('MCU nodes')
    await expect.poll(state('Hall 3')).toContain('Online')
  })

  test('people and cameras are the same numbers on the pages, in the API and in the metrics', async () => {
    await addNode('Hall 4')
    const { room_id } = await opened().call('rooms.create', { topic: 'Counted' })
    for (const user_id of ['cleo', 'dan']) await opened().call('lab.join', { room_id, user_id, user_name: user_id })
    const userAddress = 'rtsp://10.9.9.9/counted'
    await opened().call('devices.create', { roomId: room_id, userId: 'counted', userName: 'Counted', userAddress })
    const { counts } = await opened().call('overview.get')
    const nodes = await opened().call('nodes.list')
    const sum = (value: (node: (typeof nodes)[number]) => number) => nodes.reduce((all, node) => all + value(node), 0)
    expect({ people: sum(({ users, devices }) => users - devices), cameras: sum(({ devices }) => devices) }).toEqual({
      people: counts.people,
      cameras: counts.devices_joined,
    })
    await pages().go('MCU nodes')
    for (const { config, users, devices } of nodes) {
      const cells = pages().row(config.name).getByRole('gridcell')
      await expect.poll(() => cells.nth(3).innerText()).toBe(String(users - devices))
      await expect.poll(() => cells.nth(4).innerText()).toBe(String(devices))
    }
    await pages().go('Overview')
    await opened()
      .page.getByRole('link', { name: `People in rooms ${counts.people}` })
      .waitFor()
    const metrics = await opened().page.evaluate(async () => await (await fetch('/metrics')).text())
    expect(metrics).toContain(`roomdesk_users ${counts.people + counts.devices_joined}\n`)
    expect(metrics).toContain(`roomdesk_devices{state="joined"} ${counts.devices_joined}\n`)
    await opened().call('devices.remove', { userIds: ['counted'] })
    await opened().call('rooms.delete', { room_ids: [room_id] })
  })

  test('a node is drained: it empties while people finish, and nobody is disconnected', async () => {
    await addNode('Hall 5')
    const others = (await opened().call('nodes.list')).filter(({ config }) => config.name !== 'Hall 5')
    for (const { config } of others) await opened().call('nodes.disable', { name: config.name })
    onTestFinished(async () => {
      for (const { config } of others) await opened().call('nodes.enable', { name: config.name })
    })
    const { room_id } = await opened().call('rooms.create', { topic: 'Last meeting' })
    await opened().call('lab.join', { room_id, user_id: 'ann', user_name: 'Ann' })
    await pages().go('Overview')
    await opened()
      .page.getByRole('link', { name: /Last meeting.*1 person/ })
      .click()
    await pages().panel('Last meeting').getByText('Ann').first().waitFor()
    await pages().go('MCU nodes')

    await pages().actOnRow('Hall 5', 'Drain')
    await pages().confirm('Drain')
    await expect.poll(state('Hall 5')).toContain('1 room left · 1 person')
    expect((await opened().call('rooms.get', { room_id })).users).toHaveLength(1)
    await opened().call('lab.leave', { room_id, user_id: 'ann' })
    await expect.poll(state('Hall 5')).toContain('Empty: it can be disabled or removed')
    await pages().actOnRow('Hall 5', 'Remove')
    await pages().confirm('Remove')
    await pages().row('Hall 5').waitFor({ state: 'detached' })
  })
}
