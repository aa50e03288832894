import { language, languageTag, texts } from '../texts/texts.ts'
import { canChooseSpeaker } from './speaker.ts'

/** The sentence as a file, for browsers without a voice: English spoken by flite's voice slt, the others by espeak-ng. */
const files = import.meta.glob<string>('../../../texts/*/recording-on.mp3', {
  eager: true,
  query: '?url',
  import: 'default',
})

// Browsers load the list of their voices when it is first asked for.
if ('speechSynthesis' in globalThis) speechSynthesis.getVoices()

/** Finds a voice of the machine for a language. Voices of a service on the internet are left out: a site may have none. */
function voiceFor(tag: string): SpeechSynthesisVoice | undefined {
  if (!('speechSynthesis' in globalThis)) return undefined
  const [short = tag] = tag.split('-')
  const fitting = speechSynthesis.getVoices().filter(({ lang, localService }) => localService && lang.startsWith(short))
  return fitting.find(({ lang }) => lang.replace('_', '-') === tag) ?? fitting[0]
}

/** Nothing is heard where the browser blocks sound, or has no such speaker: the notice on the screen stays. */
async function play(file: string, sink: string): Promise<void> {
  const element = new Audio(file)
  try {
    if (canChooseSpeaker() && sink !== '') await element.setSinkId(sink)
    await element.play()
  } catch (error) {
    console.warn(error)
  }
}

/**
 * Says once in the language of the page that the meeting is recorded: by a voice of the machine, else by a file.
 * @param sink id of the speaker for the file; empty: the system's
 */
export function sayRecordingOn(sink: string): void {
  const playFile = (): void => void play(files[`../../../texts/${language.value}/recording-on.mp3`] ?? '', sink)
  const voice = voiceFor(languageTag.value)
  if (voice === undefined) return playFile()
  const spoken = new SpeechSynthesisUtterance(texts.value.told.recordingOn)
  spoken.lang = voice.lang
  spoken.voice = voice
  spoken.addEventListener('error', playFile, { once: true })
  speechSynthesis.speak(spoken)
}
