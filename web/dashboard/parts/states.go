package parts

import (
	"github.com/botix-pro/platform/app/models"
	"github.com/botix-pro/platform/web/ui"
)

var messagePills = map[models.MessageStatus]string{
	models.MessageQueued: ui.PillPending, models.MessageSending: ui.PillRunning, models.MessageSent: ui.PillDelivered,
	models.MessageDelivered: ui.PillDelivered, models.MessageFailed: ui.PillFailed, models.MessageCancelled: ui.PillDead,
	models.MessageUnknown: ui.PillRetrying,
}

// MessageState is a message's state.
func MessageState(v *ui.Visit, status models.MessageStatus) *ui.Pill {
	return &ui.Pill{Kind: messagePills[status], Word: ui.Word(WordsOf(v).MessageStates, status)}
}

var runPills = map[models.RunStatus]string{
	models.RunQueued: ui.PillPending, models.RunRunning: ui.PillRunning, models.RunWaiting: ui.PillRetrying,
	models.RunCompleted: ui.PillDelivered, models.RunFailed: ui.PillFailed, models.RunCancelled: ui.PillDead,
}

// RunState is a run's state.
func RunState(v *ui.Visit, status models.RunStatus) *ui.Pill {
	return &ui.Pill{Kind: runPills[status], Word: ui.Word(WordsOf(v).RunStates, status)}
}

var deliveryPills = map[models.DeliveryStatus]string{
	models.DeliveryPending: ui.PillPending, models.DeliveryInFlight: ui.PillRunning, models.DeliveryWaiting: ui.PillRetrying,
	models.DeliveryDelivered: ui.PillDelivered, models.DeliveryDeadLetter: ui.PillDead, models.DeliveryHeld: ui.PillPending,
	models.DeliveryCancelled: ui.PillFailed,
}

// DeliveryState is a delivery's state.
func DeliveryState(l ui.Locale, status models.DeliveryStatus) ui.Pill {
	return ui.Pill{Kind: deliveryPills[status], Word: ui.Word(WordsIn(l.Language).DeliveryStates, status)}
}
