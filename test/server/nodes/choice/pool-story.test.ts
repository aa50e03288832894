import { test } from 'vitest'
import { tellPoolStory } from './pool-story.ts'

test('40 nodes and 4,000 rooms: nodes die, hang, drain and go, and load is even, nothing is lost, and no room is more work than the first', () =>
  tellPoolStory({ seed: 11, nodes: 40, rooms: 4_000, rounds: 1 }))
