import { test } from 'vitest'
import { tellPoolStory } from '../server/nodes/choice/pool-story.ts'

test('40 nodes and 4,000 rooms: nodes die, hang, drain and leave; load stays even, nothing is lost, and assigning a room costs no more than at the start', () =>
  tellPoolStory({ seed: 11, nodes: 40, rooms: 4_000, rounds: 1 }))
