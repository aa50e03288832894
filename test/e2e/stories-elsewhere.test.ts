import { signInStory } from './stories/accessibility.ts'
import { portStory } from './stories/ports.ts'

// Stories that need a site of their own.
portStory()
signInStory('light')
