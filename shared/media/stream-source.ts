/** Source of a user's stream: camera and microphone, or the screen. */
export const streamSources = ['main', 'screen'] as const
export type StreamSource = (typeof streamSources)[number]

/** Suffix of the stream id of a screen, after the user's id. User ids may not end with it. */
export const screenSuffix = '~screen'
