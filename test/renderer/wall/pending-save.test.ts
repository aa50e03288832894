import { expect, test } from 'vitest'
import { useWall } from '../../../renderer/console/pages/wall/useWall.ts'
import { evenArrangement, type WallItem } from '../../../shared/domain/wall-layout.ts'
import { operator, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

test('what is added to a wall while it is saved stays, to be saved next', async () => {
  const client = await operator()
  const camera = (name: string): WallItem => ({ kind: 'camera', id: name })
  const first = { name: 'Doors', items: [camera('z')], arrangement: evenArrangement }
  const { id } = await client.call('wall.save', first)
  const walls: ReturnType<typeof useWall>[] = []
  show(
    {
      setup() {
        walls.push(useWall(() => id))
        return () => null
      },
    },
    client,
  )
  const [wall] = walls
  if (wall === undefined) throw new Error('there is no wall')
  await eventually(() => expect(wall.ready.value).toBe(true))
  wall.change([camera('a')])
  const saving = wall.save()
  wall.change([camera('a'), camera('b')])
  await saving
  expect(wall.items.value).toEqual([camera('a'), camera('b')])
  await eventually(() => expect([wall.dirty.value, wall.overtaken.value]).toEqual([true, false]))
  await wall.save()
  expect((await client.call('wall.list')).find((view) => view.id === id)?.items).toEqual([camera('a'), camera('b')])
  await eventually(() => expect(wall.dirty.value).toBe(false))
})
