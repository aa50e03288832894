import { test } from 'vitest'
import { tellPoolStory } from '../server/nodes/choice/pool-story.ts'

for (const seed of [11, 12]) {
  test(`100 nodes and 20,000 rooms, seed ${seed}: nodes die, hang, drain and leave; load stays even, nothing is lost, and assigning a room costs no more than at the start`, async () => {
    const { imbalance, steps } = await tellPoolStory({ seed, nodes: 100, rooms: 20_000, rounds: 3 })
    const [first, last] = steps.map((each) => each.toFixed(1))
    console.info(
      `seed ${seed}: at most ${(imbalance * 100).toFixed(1)}% from even; ${first} reads for a new room at first, ${last} in the end`,
    )
  })
}
