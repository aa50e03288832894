import { expect, test } from 'vitest'
import { wallArrangement } from '../../../shared/domain/wall-layout.ts'
import ConflictHost from '../../../renderer/console/edits/ConflictHost.vue'
import { operator, pageText, says, show } from '../devices/operator-page.ts'

test('Two operators edit one wall: the second one reads names of cameras and rooms, and the layouts in words', async () => {
  const client = await operator()
  const { room_id } = await client.call('rooms.create', { topic: 'Control room' })
  await client.call('devices.create', {
    roomId: room_id,
    userId: 'cam-7',
    userName: 'North gate',
    userAddress: 'rtsp://127.0.0.1:9/1',
  })
  const fields = [
    {
      field: 'items',
      mine: [{ kind: 'camera', id: 'cam-7' }],
      current: [
        { kind: 'room', id: room_id },
        { kind: 'camera', id: 'removed' },
      ],
      changed: null,
    },
    { field: 'arrangement', mine: wallArrangement.parse({ layout: '1+5' }), current: undefined, changed: null },
  ]
  show(ConflictHost, client, { conflict: { kind: 'wall', fields, answer: () => undefined } })
  await says('North gate')
  await says('Control room')
  const text = pageText()
  expect(text).toContain('removed')
  expect(text).not.toContain('cam-7')
  expect(text).not.toContain('{')
  for (const line of ['1 + 5', 'Equal', 'Names on the pictures']) expect(text).toContain(line)
})
