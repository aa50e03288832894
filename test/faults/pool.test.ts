import { test } from 'vitest'
import { tellPoolStory } from '../server/nodes/choice/pool-story.ts'

for (const seed of [11, 12]) {
  test(`200 nodes and 20,000 rooms, seed ${seed}: nodes die, hang, drain and go, and load is even, nothing is lost, and no room is more work than the first`, () =>
    tellPoolStory({ seed, nodes: 200, rooms: 20_000, rounds: 3 }))
}
