import { signInStory } from './stories/accessibility.ts'
import { manyRoomsStory } from './stories/many-rooms.ts'
import { portStory } from './stories/ports.ts'

// Stories that need a site of their own.
portStory()
manyRoomsStory()
signInStory()
