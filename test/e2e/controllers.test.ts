import { controllersStory } from './stories/controllers-page.ts'

// Replicas, the dark theme and phones: with the faults.
controllersStory(['light'], ['leader'])
