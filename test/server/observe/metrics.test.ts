import { expect, test } from 'vitest'
import { Metrics } from '../../../server/observe/metrics.ts'
import { observation } from './observation.ts'

const open = () =>
  new Metrics({
    rooms: () => 12,
    users: () => 34,
    sessions: () => 5,
    nodes: () => ({ online: 2, offline: 1 }),
    droppedMedia: () => [{ node: 'Hall', queue: 'viewers', count: 5 }],
    drifts: () => [{ node: 'Hall', kind: 'roomMissing', count: 3 }],
    relays: () => ({ up: 6 }),
    devices: () => ({ joined: 3 }),
    store: () => ({ healthy: true, backlog: 7, journalBytes: 1024 }),
    olderClients: () => ({ served: 4, refused: 2 }),
    restarts: () => 2,
    connections: async () => ({ media: 8 }),
  })

test('requests are counted by API, operation and ret', async () => {
  const metrics = open()
  for (const ret of [0, 0, 404]) metrics.observe(observation({ ret }))
  metrics.observe(observation({ api: 'device', operation: '', ret: 401 }))
  const lines = (await metrics.text()).split('\n')
  expect(lines).toContain('roomdesk_requests_total{api="media",operation="get_room",ret="0"} 2')
  expect(lines).toContain('roomdesk_requests_total{api="media",operation="get_room",ret="404"} 1')
  expect(lines).toContain('roomdesk_requests_total{api="device",operation="",ret="401"} 1')
})

test('scraping twice does not count twice', async () => {
  const metrics = open()
  metrics.observe(observation())
  await metrics.text()
  expect(await metrics.text()).toContain('roomdesk_requests_total{api="media",operation="get_room",ret="0"} 1\n')
})

test('durations make a histogram', async () => {
  const metrics = open()
  for (const duration of [0.2, 3, 7_000]) metrics.observe(observation({ duration }))
  metrics.flushed(4)
  const lines = (await metrics.text()).split('\n')
  expect(lines).toContain('# TYPE roomdesk_request_seconds histogram')
  const name = 'roomdesk_request_seconds'
  const labels = 'api="media",operation="get_room"'
  expect(lines).toContain(`${name}_bucket{${labels},le="0.0005"} 1`)
  expect(lines).toContain(`${name}_bucket{${labels},le="0.005"} 2`)
  expect(lines).toContain(`${name}_bucket{${labels},le="5"} 2`)
  expect(lines).toContain(`${name}_bucket{${labels},le="+Inf"} 3`)
  expect(lines).toContain(`${name}_count{${labels}} 3`)
  expect(lines.find((line) => line.startsWith(`${name}_sum{${labels}}`))).toMatch(/ 7\.0032/)
  expect(lines).toContain('roomdesk_store_flush_seconds_bucket{le="0.005"} 1')
})

test('states are read on each scrape', async () => {
  const text = await open().text()
  for (const line of [
    'roomdesk_rooms 12',
    'roomdesk_older_client_calls_total{outcome="served"} 4',
    'roomdesk_older_client_calls_total{outcome="refused"} 2',
    'roomdesk_users 34',
    'roomdesk_sessions 5',
    'roomdesk_nodes{state="online"} 2',
    'roomdesk_nodes{state="offline"} 1',
    'roomdesk_node_drift_total{node="Hall",kind="roomMissing"} 3',
    'roomdesk_node_dropped_total{node="Hall",queue="viewers"} 5',
    'roomdesk_relays{state="up"} 6',
    'roomdesk_devices{state="joined"} 3',
    'roomdesk_store_healthy 1',
    'roomdesk_store_backlog 7',
    'roomdesk_store_journal_bytes 1024',
    'roomdesk_connections{listener="media"} 8',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
  expect(text).toContain('process_resident_memory_bytes')
})
