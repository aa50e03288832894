/** Restart of the listeners. */
export const restart = {
  hint: 'Clients cannot connect although the ports are right?',
  action: 'Restart listeners',
  title: 'Restart the two API listeners?',
  body: 'Clients get no answers for a moment. Rooms, people and devices are not affected.',
  done: 'The listeners were restarted',
} as const
